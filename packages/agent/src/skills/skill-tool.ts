import { BaseTool, ToolError, type ToolResult } from '@lathe/core';
import { closestNames } from '@lathe/core/host';
import type { XStatic } from 'typebox/schema';
import { skillTool } from '../loop/loaded-skills.js';
import { estimateTokens } from '../models/estimate-tokens.js';
import type { Skill } from './find-skills.js';

const schema = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1 } },
  required: ['name'],
  additionalProperties: false,
} as const;

type Params = XStatic<typeof schema>;

/** What the list of skills may cost with each request. */
export const listTokens = 1_500;

/** Gives the model the instructions of a skill. */
export class SkillTool extends BaseTool<Params> {
  readonly #skills: readonly Skill[];
  readonly #load: (skill: Skill) => Promise<string>;

  constructor(skills: readonly Skill[], load: (skill: Skill) => Promise<string>) {
    super({
      name: skillTool,
      displayName: 'Skill',
      description: `Loads a skill: instructions for one kind of task. If one fits the task, load it first.\n${listSkills(skills).text}`,
      kind: 'read',
      parameterSchema: schema,
      maxOutputChars: 80_000,
    });
    this.#skills = skills;
    this.#load = load;
  }

  override getDescription({ name }: Params): string {
    return `Load the skill ${name}`;
  }

  async execute({ name }: Params): Promise<ToolResult> {
    const wanted = name.replace(/^[/$]/, '');
    const skill = this.#skills.find((each) => each.name === wanted);
    if (skill) return { llmContent: await this.#load(skill), returnDisplay: `Loaded from ${skill.folder}` };
    const names = this.#skills.map((each) => each.name);
    const near = closestNames(wanted, names);
    const hint = near.length > 0 ? ` Near in name: ${near.join(', ')}.` : '';
    throw new ToolError('invalid_tool_params', `There is no skill ${JSON.stringify(name)}.${hint}`);
  }
}

/** Lengths that descriptions are cut to, so that the list fits; names alone come last. */
const lengths = [1_024, 400, 160, 60, 0];

const fits = (lines: readonly string[]) => estimateTokens(lines.join('\n')) <= listTokens;

/** The list for the model within its budget. `omitted`: the skills that it does not name. */
export function listSkills(skills: readonly Skill[]): { text: string; omitted: readonly Skill[] } {
  const lines = (length: number) => skills.map((skill) => lineOf(skill, length));
  const listed = lengths.map(lines).find(fits) ?? lines(0);
  while (!fits(listed)) listed.length = Math.floor(listed.length * 0.9);
  const omitted = skills.slice(listed.length);
  const rest = `\n(${omitted.length} more skills are not listed; the person can name them)`;
  return { text: `${listed.join('\n')}${omitted.length > 0 ? rest : ''}`, omitted };
}

function lineOf({ name, description }: Skill, length: number): string {
  if (length === 0) return `- ${name}`;
  return `- ${name}: ${description.length > length ? `${description.slice(0, length - 1)}…` : description}`;
}
