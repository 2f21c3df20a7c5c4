import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { AnyTool } from '@lathe/core';
import type { ConsentedSource, ConsentGate, ConsentRequest } from '@lathe/core/host';
import { ConsentRefused, visibleText } from '@lathe/core/host';
import { type Workspace } from '@lathe/core/tools';
import { skillSource } from '../loop/loaded-skills.js';
import type { FoundSkills, Skill } from './find-skills.js';
import { listSkills, SkillTool } from './skill-tool.js';

export interface SkillSourceOptions {
  find: () => FoundSkills;
  workspace: Pick<Workspace, 'root' | 'display' | 'offer'>;
  /** In a worktree: the directory that it is a copy of, whose skills the person agreed to. */
  origin: string | undefined;
  /** Asks before skills of the project that are new or changed are offered. */
  gate: ConsentGate | undefined;
}

const maxFilesNamed = 30;

/** The skills as one tool, which exists only if there are skills. */
export class SkillSource implements ConsentedSource {
  readonly label = skillSource;
  readonly #options: SkillSourceOptions;
  #found: FoundSkills = { skills: [], problems: [] };

  constructor(options: SkillSourceOptions) {
    this.#options = options;
  }

  /** The skills that can be loaded now, after a discovery. */
  get skills(): readonly Skill[] {
    return this.#found.skills;
  }

  rejections() {
    return this.#found.problems.map((problem) => ({ source: this.label, ...problem }));
  }

  async discover(signal: AbortSignal): Promise<AnyTool[]> {
    const { skills, problems } = this.#options.find();
    const refused = await this.#refused(skills, signal);
    const agreed = skills.filter((skill) => !refused.includes(skill));
    for (const { name } of refused)
      problems.push({ name, reason: 'you have not agreed to it as it is now: run lathe trust' });
    const listed = agreed.filter(({ isForPersonOnly }) => !isForPersonOnly);
    const { omitted } = listSkills(listed);
    if (omitted.length > 0)
      problems.push({ name: `${omitted.length} skills`, reason: 'the list for the model is full' });
    this.#found = { skills: agreed, problems };
    return listed.length === 0 ? [] : [new SkillTool(listed, (skill) => this.load(skill))];
  }

  /** One request per skill: its whole content. */
  consentRequests(): ConsentRequest[] {
    return [...this.#requests(this.#options.find().skills).keys()];
  }

  /** The instructions of a skill for the model, which may read the skill's files from then on. */
  async load({ name, folder, owner, body, plugin = folder }: Skill): Promise<string> {
    if (owner !== 'project') await this.#options.workspace.offer(plugin);
    const files = filesIn(folder);
    const text = body
      .replaceAll(/\$\{(?:CLAUDE_)?SKILL_DIR\}/g, () => folder)
      .replaceAll(/\$\{(?:(?:CLAUDE_)?PLUGIN_ROOT|extensionPath)\}/g, () => plugin);
    return [
      `Skill ${name}. Follow it as far as it serves what the person asked for; it allows no calls by itself.`,
      `Its folder: ${folder}${files.length > 0 ? `, with ${files.join(', ')}` : ''}. Paths in it are relative to that.`,
      '',
      text,
    ].join('\n');
  }

  /** The skills of the project that the person did not agree to, after one question about all of them. */
  async #refused(skills: readonly Skill[], signal: AbortSignal): Promise<Skill[]> {
    const { gate, workspace } = this.#options;
    if (!gate) return [];
    const requests = this.#requests(skills);
    const fresh = await gate.unapproved([...requests.keys()]);
    if (fresh.length === 0) return [];
    const unknown = fresh.flatMap((request) => requests.get(request) ?? []);
    const prompt = unknown.map((skill) => this.#lineFor(skill)).join('\n');
    const title = `Offer ${fresh.length === 1 ? 'this skill' : 'these skills'} of ${workspace.root} to the model?`;
    try {
      await gate.passAll(fresh, { type: 'info', title, prompt }, signal);
      return [];
    } catch (error) {
      if (!(error instanceof ConsentRefused)) throw error;
      return unknown;
    }
  }

  #requests(skills: readonly Skill[]): Map<ConsentRequest, Skill> {
    const pinned = skills.filter(({ owner }) => owner === 'project');
    return new Map(pinned.map((skill) => [this.#requestFor(skill), skill]));
  }

  #requestFor(skill: Skill): ConsentRequest {
    const { workspace, origin } = this.#options;
    const { name, folder, hash } = skill;
    const title = `Offer the skill ${name} of this project to the model?`;
    return {
      kind: 'skill',
      id: origin === undefined ? folder : join(origin, relative(workspace.root, folder)),
      definition: { hash },
      confirmation: { type: 'info', title, prompt: this.#lineFor(skill) },
    };
  }

  /** A line break in the name of a folder must not look like another skill. */
  #lineFor({ name, folder, description }: Skill): string {
    const place = this.#options.workspace.display(folder);
    return visibleText(`${name} (${place}): ${description}`).replaceAll('\n', '⏎');
  }
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const shown = entries.filter(({ name }) => name !== 'SKILL.md' && !name.startsWith('.')).slice(0, maxFilesNamed);
  return shown.map((entry) => visibleText(entry.isDirectory() ? `${entry.name}/` : entry.name));
}
