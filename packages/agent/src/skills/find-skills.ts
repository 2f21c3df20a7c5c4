import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { InstalledPlugin } from '@lathe/core/host';
import { attempt, filesHash, isWithin, readBounded, readTree, thrownText, visibleText } from '@lathe/core/host';
import { parseSkill, type SkillText } from './parse-skill.js';

/** A skill that can be loaded. */
export interface Skill extends SkillText {
  /** As the model and the person write it; that of a plugin begins with the plugin's name. */
  name: string;
  owner: 'person' | 'project' | 'plugin';
  /** The real path of its folder. */
  folder: string;
  /** Of a plugin: the plugin's folder. */
  plugin?: string;
  /** Of a project: the hash of all its files. */
  hash?: string;
}

/** Where skills are looked for. */
export interface SkillPlaces {
  /** The root of the workspace. */
  root: string;
  /** Skills of the workspace count only when it is trusted. */
  isTrusted: boolean;
  /** Folders of the person's own skills. */
  personalFolders: readonly string[];
  plugins: readonly Pick<InstalledPlugin, 'name' | 'root' | 'skills'>[];
}

export interface FoundSkills {
  skills: Skill[];
  /** What is not used, and why. */
  problems: { name: string; reason: string }[];
}

const maxSkills = 500;
const maxFileBytes = 64 * 1024;

/** The folders of skills in a project. */
export const projectFolders = ['.agents/skills', '.lathe/skills', '.qwen/skills', '.claude/skills'];

/** Reads the skills of the person, then of a trusted project, then of plugins. The first of a name counts. */
export function findSkills({ root, isTrusted, personalFolders, plugins }: SkillPlaces): FoundSkills {
  const found = new Map<string, Skill>();
  const problems: FoundSkills['problems'] = [];
  const add = (label: string, read: () => Skill) => {
    try {
      const skill = read();
      const other = found.get(skill.name);
      if (other?.folder === skill.folder) return;
      if (other) throw new Error(`there is a skill ${skill.name} already, in ${other.folder}`);
      if (found.size >= maxSkills) throw new Error(`there are more than ${maxSkills} skills`);
      found.set(skill.name, skill);
    } catch (error) {
      problems.push({ name: visibleText(label), reason: thrownText(error) });
    }
  };
  const own = new Set(personalFolders);
  for (const path of [...own].flatMap(skillFolders)) add(path, () => ({ ...readSkill(path), owner: 'person' }));
  const theirs = projectFolders.flatMap((folder) =>
    own.has(join(root, folder)) ? [] : skillFolders(join(root, folder)),
  );
  for (const path of isTrusted ? theirs : []) add(path, () => readProjectSkill(path, root));
  const [first, ...more] = theirs.map((path) => visibleText(relative(root, path)));
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  if (!isTrusted && first !== undefined)
    problems.push({ name: `${first}${others}`, reason: 'the folder is not trusted: run lathe trust' });
  for (const { name, root: folder, skills } of plugins)
    for (const skill of skills)
      add(`${name}/${skill.folder}`, () => {
        const parsed = parseSkill(skill.text, basename(skill.folder));
        const named = { name: `${name}:${parsed.name}`, folder: join(folder, skill.folder) };
        return { ...parsed, ...named, owner: 'plugin', plugin: folder };
      });
  return { skills: [...found.values()], problems };
}

/** The folders in `folder` that have a SKILL.md, sorted. */
export function skillFolders(folder: string): string[] {
  // Most people have no such folder.
  const names = attempt(() => readdirSync(folder).sort().slice(0, maxSkills)) ?? [];
  return names.map((name) => join(folder, name)).filter((path) => existsSync(join(path, 'SKILL.md')));
}

function readSkill(path: string): Omit<Skill, 'owner'> {
  const folder = realpathSync(path);
  const text = readBounded(join(folder, 'SKILL.md'), maxFileBytes) ?? '';
  return { ...parseSkill(text, basename(path)), folder };
}

/** The text comes from the files that the hash is of. */
function readProjectSkill(path: string, root: string): Skill {
  const folder = realpathSync(path);
  if (!isWithin(realpathSync(root), folder)) throw new Error('it leads out of the project');
  const files = readTree(folder);
  const text = files.get('SKILL.md')?.content ?? Buffer.alloc(0);
  if (text.length > maxFileBytes) throw new Error(`SKILL.md is larger than ${maxFileBytes} bytes`);
  return { ...parseSkill(text.toString(), basename(path)), folder, owner: 'project', hash: filesHash(files) };
}
