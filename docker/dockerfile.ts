/** Reads the parts of the Dockerfile that tests and checks need: one instruction a line, continued with a backslash. */
import { readFileSync } from 'node:fs';

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly name?: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  readonly stages: readonly Stage[];
}

export function readDockerfile(file: string): Dockerfile {
  const stages: { name?: string; base: string; instructions: Instruction[] }[] = [];
  const lines = readFileSync(file, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  for (const line of lines.filter((text) => text.trim() !== '')) {
    const [, name = '', text = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') {
      const [base = '', , stage] = text.split(/\s+/);
      stages.push({ base, ...(stage === undefined ? {} : { name: stage }), instructions: [] });
    } else stages.at(-1)?.instructions.push({ name, text });
  }
  return { stages };
}

/** The commands of a stage, without Docker's own options. */
export function runLinesOf(dockerfile: Dockerfile, stage: string): string[] {
  const found = dockerfile.stages.find(({ name }) => name === stage);
  return (found?.instructions ?? [])
    .filter(({ name }) => name === 'RUN')
    .map(({ text }) => text.replace(/^(--\S+\s+)+/, ''));
}

/** The variables that the image itself sets. */
export function environmentOf(dockerfile: Dockerfile): Record<string, string> {
  const pairs = ofTheImage(dockerfile, 'ENV').flatMap((text) => text.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

export function entryPointOf(dockerfile: Dockerfile): string[] {
  return JSON.parse(ofTheImage(dockerfile, 'ENTRYPOINT')[0] ?? '[]') as string[];
}

export function healthCheckOf(dockerfile: Dockerfile): string[] {
  return JSON.parse(ofTheImage(dockerfile, 'HEALTHCHECK')[0]?.replace(/^.*?CMD /, '') ?? '[]') as string[];
}

export function exposedPortOf(dockerfile: Dockerfile): number {
  return Number(ofTheImage(dockerfile, 'EXPOSE')[0]);
}

function ofTheImage(dockerfile: Dockerfile, instruction: string): string[] {
  const { instructions = [] } = dockerfile.stages.at(-1) ?? {};
  return instructions.filter(({ name }) => name === instruction).map(({ text }) => text);
}
