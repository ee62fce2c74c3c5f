/**
 * Caches the sites (expressions with mutants) that a spec evaluates. The cache key contains the spec and all code that
 * the spec could load.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedSpec } from './baseline.ts';

export interface BaselineCache {
  find(spec: string): RecordedSpec | undefined;
  store(spec: RecordedSpec): void;
}

const SPEC = /\.(spec|int-spec|e2e-spec)\.tsx?$/;

export function openBaselineCache(root: string, folder: string): BaselineCache {
  mkdirSync(folder, { recursive: true });
  const code = computeHash(
    globSync(['{apps,libs,tools/mutants}/**/*.{ts,tsx}', 'jest.config.mjs', 'package-lock.json'], {
      cwd: root,
      exclude: (path) => /(^|[\\/])(node_modules|dist|\.data)$/.test(path),
    })
      .filter((file) => !SPEC.test(file))
      .toSorted()
      .map((file) => readFileSync(join(root, file))),
  );
  const cacheFile = (spec: string) => join(folder, `${computeHash([code, spec, readFileSync(join(root, spec))])}.json`);
  return {
    find: (spec) => (existsSync(cacheFile(spec)) ? parse(readFileSync(cacheFile(spec), 'utf8')) : undefined),
    store: (spec) => writeFileSync(cacheFile(spec.spec), serialise(spec)),
  };
}

function computeHash(parts: readonly (string | Buffer)[]): string {
  return parts.reduce((hash, part) => hash.update(part).update('\0'), createHash('sha1')).digest('hex');
}

export function serialise(spec: RecordedSpec): string {
  return JSON.stringify(spec, (_, value: unknown) => (value instanceof Set ? [...(value as Set<unknown>)] : value));
}

export function parse(text: string): RecordedSpec {
  const spec = JSON.parse(text) as RecordedSpec;
  const tests = spec.tests.map((test) => ({ ...test, sites: new Set(test.sites) }));
  return { ...spec, tests, loadSites: new Set(spec.loadSites) };
}
