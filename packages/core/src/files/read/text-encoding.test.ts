import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { codecFor, detectEncoding, type TextEncoding } from './text-encoding.js';

const decode = async (bytes: Uint8Array, encoding: TextEncoding) => (await codecFor(encoding)).decode(bytes);

const chinese = '// 这个函数计算两个数字的总和，并且返回结果。请不要修改它的名字，因为其他文件会用到。\n';
const taiwanese = '// 這個函數計算兩個數字的總和，並且傳回結果。請不要修改它的名稱，因為其他檔案會用到。\n';
const japanese = '// この関数は二つの数の合計を計算して、結果を返します。名前を変更しないでください。\n';
const korean = '// 이 함수는 두 숫자의 합을 계산하여 결과를 반환합니다. 이름을 변경하지 마십시오.\n';
const russian = '// Эта функция вычисляет сумму двух чисел и возвращает результат. Не меняйте её имя.\n';
const french =
  "// Cette fonction calcule la somme de deux nombres entiers et renvoie le résultat à l'appelant. Ne changez pas le nom, même très légèrement.\n";

test.each([
  ['gb18030', chinese],
  ['big5', taiwanese],
  ['shift_jis', japanese],
  ['euc-jp', japanese],
  ['euc-kr', korean],
  ['windows-1251', russian],
  ['koi8-r', russian],
  ['windows-1252', french],
])('%s is detected and read', async (name, text) => {
  const whole = `int main() { return 0; }\n${text.repeat(3)}`;
  const bytes = iconv.encode(whole, name);
  const encoding = await detectEncoding(bytes);
  expect(encoding && (await decode(bytes, encoding))).toBe(whole);
});

test.each(['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])('%s is known by its mark', async (name) => {
  const bytes = iconv.encode('\uFEFFhi é 漢\n', name, { addBOM: false });
  const encoding = await detectEncoding(bytes);
  expect(encoding?.name).toBe(name);
  expect(encoding && (await decode(bytes.subarray(encoding.bom.length), encoding))).toBe('hi é 漢\n');
});

test.each(['utf-16le', 'utf-16be'])('%s is known without a mark', async (name) => {
  const encoding = await detectEncoding(iconv.encode('plain text\nand more\n', name, { addBOM: false }));
  expect(encoding).toMatchObject({ name });
});

test('UTF-8 cut in the middle of a character is still UTF-8', async () => {
  const bytes = Buffer.from('漢字👍');
  for (let length = 1; length <= bytes.length; length++)
    expect(await detectEncoding(bytes.subarray(0, length))).toMatchObject({ name: 'utf-8' });
});

test('a few damaged bytes do not change what the rest is', async () => {
  const bytes = Buffer.concat([Buffer.from(russian.repeat(5)), Buffer.from([0xff, 0xc3]), Buffer.from(chinese)]);
  expect(await detectEncoding(bytes)).toMatchObject({ name: 'utf-8' });
});

test('a damaged byte does not change a legacy encoding either', async () => {
  const text = iconv.encode(chinese.repeat(8), 'gb18030');
  const bytes = Buffer.concat([text, Buffer.from([0xff, 0x0a]), text]);
  expect(await detectEncoding(bytes)).toMatchObject({ name: 'gb18030' });
});

test('a legacy comment far behind a long ASCII beginning is found', async () => {
  const bytes = Buffer.concat([Buffer.from('int x = 1;\n'.repeat(20_000)), iconv.encode(japanese, 'shift_jis')]);
  const encoding = await detectEncoding(bytes);
  expect(encoding && (await decode(bytes, encoding))).toContain(japanese);
});

// RR07
test.each([
  ['NUL bytes', Buffer.from([1, 2, 0, 0, 3, 4, 0, 0])],
  ['compressed data', Buffer.from(Array.from({ length: 2000 }, (_, index) => (index * 7919) % 251 || 1))],
])('%s are not text', async (_, bytes) => {
  expect(await detectEncoding(bytes)).toBeUndefined();
});

test('an empty file is UTF-8', async () => {
  expect(await detectEncoding(Buffer.alloc(0))).toMatchObject({ name: 'utf-8' });
});
