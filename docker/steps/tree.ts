/**
 * Last step of an image: `node docker/steps/tree.ts APP PACKAGES FOLDER` makes the folder that is all an image holds:
 * the compiled app, the compiled libraries it depends on, and of what packages.sh has put into PACKAGES those packages
 * that they depend on, directly or not. Says how large it is.
 */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** What no program reads while it runs: types, sources, source maps of others, manuals. Licences stay. */
const NOT_FOR_RUNNING = /\.(ts|mts|cts|tsx|md|markdown|map|flow)$/;
const LICENCE = /^(licen[cs]e|notice|copying|copyright)/i;

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

/** Makes the tree of one app. Returns its size in bytes. */
export function makeTree(app: string, packagesFolder: string, folder: string): number {
  const packages = realpathSync(packagesFolder);
  const start = join(packages, 'apps', app);
  if (!existsSync(start)) throw new Error(`there is no app "${app}" in ${packagesFolder}`);
  for (const found of dependenciesOf(start, packages)) {
    const path = relative(packages, found);
    const to = join(resolve(folder), path);
    if (path.startsWith('node_modules/') || path.includes('/node_modules/')) copyPackage(found, to);
    else copyWorkspace(path, found, to, resolve(folder));
  }
  return sizeOf(folder);
}

/** The folders of an app and all it depends on, found as Node.js finds them. */
function dependenciesOf(start: string, packages: string): Set<string> {
  const found = new Set([start]);
  // A Set hands out what is added while it is walked.
  for (const folder of found) {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const dependency = findPackage(name, folder, packages);
      const isOptional = optionalDependencies?.[name] !== undefined || peerDependenciesMeta?.[name]?.optional === true;
      if (dependency !== undefined) found.add(dependency);
      else if (!isOptional) throw new Error(`${relative(packages, folder)} needs ${name}, which is not installed`);
    }
  }
  return found;
}

function findPackage(name: string, from: string, packages: string): string | undefined {
  for (let folder = from; folder.startsWith(packages); folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(candidate)) return realpathSync(candidate);
  }
  return undefined;
}

function copyPackage(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter: (file) => {
      const name = basename(file);
      if (file !== from && name === 'node_modules') return false; // Those it needs are copied for themselves.
      return LICENCE.test(name) || !NOT_FOR_RUNNING.test(name) || lstatSync(file).isDirectory();
    },
  });
}

/** Source maps of our own stay: they make stack traces name our lines, and hold no source. */
function copyWorkspace(path: string, from: string, to: string, tree: string): void {
  const compiled = join(root, path, 'dist');
  if (!existsSync(compiled)) throw new Error(`${path} is not compiled: run docker/steps/build.sh first`);
  for (const part of ['dist', 'assets'].filter((name) => existsSync(join(root, path, name)))) {
    cpSync(join(root, path, part), join(to, part), {
      recursive: true,
      filter: (file) => !/\.(d\.ts|tsbuildinfo)$/.test(file),
    });
  }
  cpSync(join(from, 'package.json'), join(to, 'package.json'));
  const { name } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { name: string };
  const link = join(tree, 'node_modules', name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), to), link);
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
}

if (import.meta.main) {
  const [app, packages, folder] = process.argv.slice(2);
  if (app === undefined || packages === undefined || folder === undefined) {
    console.error('usage: node docker/steps/tree.ts APP PACKAGES FOLDER');
    process.exit(2);
  }
  const bytes = makeTree(app, packages, folder);
  console.log(`${app}: ${(bytes / 1e6).toFixed(1)} MB`);
}
