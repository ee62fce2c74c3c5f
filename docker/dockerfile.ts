/** Parses docker/Dockerfile for tests and checks. Each line must be one instruction; a backslash continues a line. */
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

/** Returns the commands of the RUN instructions of a stage, without Docker's options such as `--mount`. */
export function readRunCommands(dockerfile: Dockerfile, stage: string): string[] {
  const selectedStage = dockerfile.stages.find(({ name }) => name === stage);
  return (selectedStage?.instructions ?? [])
    .filter(({ name }) => name === 'RUN')
    .map(({ text }) => text.replace(/^(--\S+\s+)+/, ''));
}

/** Returns the environment variables that the image sets. */
export function readImageEnvironment(dockerfile: Dockerfile): Record<string, string> {
  const pairs = readInstructions(dockerfile, 'ENV').flatMap((text) => text.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

export function readEntryPoint(dockerfile: Dockerfile): string[] {
  return JSON.parse(readInstructions(dockerfile, 'ENTRYPOINT')[0] ?? '[]') as string[];
}

export function readHealthCheck(dockerfile: Dockerfile): string[] {
  return JSON.parse(readInstructions(dockerfile, 'HEALTHCHECK')[0]?.replace(/^.*?CMD /, '') ?? '[]') as string[];
}

export function readExposedPort(dockerfile: Dockerfile): number {
  return Number(readInstructions(dockerfile, 'EXPOSE')[0]);
}

/** Returns the text of all instructions with this name in the last stage, which is the image. */
function readInstructions(dockerfile: Dockerfile, instruction: string): string[] {
  const { instructions = [] } = dockerfile.stages.at(-1) ?? {};
  return instructions.filter(({ name }) => name === instruction).map(({ text }) => text);
}
