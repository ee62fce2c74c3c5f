/** Stryker's results: which mutants were killed, which survived, and which no test can kill. */
import type { Stryker } from '@stryker-mutator/core';
import { type Equivalent, type MutantContent, separateEquivalents } from '../equivalents.ts';

type Result = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

interface SurvivedMutant extends MutantContent {
  readonly line: number;
}

export interface Results {
  readonly survived: readonly SurvivedMutant[];
  /** Entries of the list that no mutant needs. */
  readonly unneeded: readonly Equivalent[];
  /** `libs/sdk  812 killed, 0 survived, 31 equivalent` */
  readonly summary: string;
}

/** A longer original is a whole block. Its beginning identifies it together with its line. */
const MAX_LENGTH = 120;

/**
 * A mutant that runs into the time limit, for example an endless loop, would not pass unnoticed. On a busy machine it may
 * only have been slow, so it may have an entry in the list.
 *
 * @param readSource returns the text of a file of the results
 */
export function readResults(
  folder: string,
  results: readonly Pick<Result, 'fileName' | 'location' | 'replacement' | 'status'>[],
  entries: readonly Equivalent[],
  readSource: (file: string) => string,
): Results {
  const ofStatus = (...statuses: Result['status'][]) => results.filter(({ status }) => statuses.includes(status));
  const files = [...new Set(results.map(({ fileName }) => fileName))];
  const sources = new Map(files.map((file) => [file, readSource(file).split('\n')]));
  const contentOf = (result: (typeof results)[number]) => readContent(result, sources.get(result.fileName)!);
  const { equivalent, others } = separateEquivalents(ofStatus('Survived', 'NoCoverage').map(contentOf), entries, files);
  const { unneeded } = separateEquivalents(
    ofStatus('Survived', 'NoCoverage', 'Timeout').map(contentOf),
    entries,
    files,
  );
  const killed = ofStatus('Killed', 'Timeout').length;
  const summary = `${folder}  ${killed} killed, ${others.length} survived, ${equivalent.length} equivalent`;
  return { survived: others, unneeded, summary };
}

function readContent(
  { fileName: file, location: { start, end }, replacement }: Pick<Result, 'fileName' | 'location' | 'replacement'>,
  source: readonly string[],
): SurvivedMutant {
  const lines = source.slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1);
  const original = shorten(lines.join('\n').slice(start.column - 1));
  const within = source[start.line - 1]!.trim();
  return { file, line: start.line, within, original, change: `becomes ${shorten(replacement)}` };
}

function shorten(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}
