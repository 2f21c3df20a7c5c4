import type * as genai from '@google/genai';
import { expectTypeOf, test } from 'vitest';
import type {
  Blob,
  FileData,
  FunctionCall,
  FunctionDeclaration,
  FunctionResponse,
  Part,
  PartListUnion,
} from './content.js';

test('our content types and those of @google/genai are assignable both ways', () => {
  expectTypeOf<Part>().toExtend<genai.Part>();
  expectTypeOf<genai.Part>().toExtend<Part>();
  expectTypeOf<PartListUnion>().toExtend<genai.PartListUnion>();
  expectTypeOf<Blob>().toExtend<genai.Blob>();
  expectTypeOf<genai.Blob>().toExtend<Blob>();
  expectTypeOf<FileData>().toExtend<genai.FileData>();
  expectTypeOf<genai.FileData>().toExtend<FileData>();
  expectTypeOf<FunctionCall>().toExtend<genai.FunctionCall>();
  expectTypeOf<genai.FunctionCall>().toExtend<FunctionCall>();
  expectTypeOf<FunctionDeclaration>().toExtend<genai.FunctionDeclaration>();
  expectTypeOf<genai.FunctionDeclaration>().toExtend<FunctionDeclaration>();
  expectTypeOf<FunctionResponse>().toExtend<genai.FunctionResponse>();
  expectTypeOf<genai.FunctionResponse>().toExtend<FunctionResponse>();
});

test('a list of parts from @google/genai is one of ours', () => {
  expectTypeOf<genai.PartListUnion>().toExtend<PartListUnion>();
});
