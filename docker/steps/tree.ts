/**
 * Last step of an image: `node docker/steps/tree.ts APP PACKAGES FOLDER` creates the only folder of an image: the app's bundled
 * program from build.sh, the files that it reads, and, from the PACKAGES of packages.sh, those that the program imports,
 * directly or not. Prints its size.
 */
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Programs } from '../../tools/bundle/bundle.ts';
import { PROGRAMS_FILE } from '../../tools/bundle/bundle.ts';

const root = join(import.meta.dirname, '..', '..');

/** Files that no program reads at run time: types, sources, third-party source maps, manuals. Licences stay. */
const UNUSED_AT_RUN_TIME = /\.(ts|mts|cts|tsx|md|markdown|map|flow)$/;
const LICENCE = /^(licen[cs]e|notice|copying|copyright)/i;

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

/** Telemetry loads these by name only when tracing is on, so no import shows them. */
const LOADED_BY_TELEMETRY = /^@opentelemetry\//;

/** Creates the tree of one app. Returns its size in bytes. */
export function makeTree(app: string, packagesFolder: string, folder: string): number {
  const packages = realpathSync(packagesFolder);
  const programs = JSON.parse(readFileSync(PROGRAMS_FILE, 'utf8')) as Programs;
  const [program, telemetry] = [programs[`${app}/main`], programs['telemetry/main']];
  if (program === undefined || telemetry === undefined) throw new Error(`there is no app "${app}" in ${PROGRAMS_FILE}`);
  for (const file of new Set([...program.files, ...telemetry.files]))
    for (const each of [file, `${file}.map`]) copyFromRoot(each, folder);
  for (const folderOfPackage of [...program.bundledPackages, ...telemetry.bundledPackages])
    copyLicences(folderOfPackage, join(folder, 'licences'));
  for (const files of ['assets', 'dist/pay-assets', 'dist/reference-pages'])
    copyFromRoot(join('apps', app, files), folder);
  // Makes its scripts ES modules.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const traced = Object.keys(readManifest(join(packages, 'libs/service')).dependencies ?? {}).filter((name) =>
    LOADED_BY_TELEMETRY.test(name),
  );
  for (const found of dependenciesOf([...program.packages, ...traced], packages))
    copyPackage(found, join(resolve(folder), relative(packages, found)));
  return sizeOf(folder);
}

/** The folders of packages and their dependencies, resolved like Node.js. An optional package may not be installed. */
function dependenciesOf(names: readonly string[], packages: string): Set<string> {
  const found = new Set(
    names.map((name) => findPackage(name, packages, packages)).filter((path) => path !== undefined),
  );
  // A Set also iterates over elements that are added during the iteration.
  for (const folder of found) {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = readManifest(folder);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const dependency = findPackage(name, folder, packages);
      const isOptional = optionalDependencies?.[name] !== undefined || peerDependenciesMeta?.[name]?.optional === true;
      if (dependency !== undefined) found.add(dependency);
      else if (!isOptional) throw new Error(`${relative(packages, folder)} needs ${name}, which is not installed`);
    }
  }
  return found;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
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
      if (file !== from && name === 'node_modules') return false; // Its dependencies are copied separately.
      return LICENCE.test(name) || !UNUSED_AT_RUN_TIME.test(name) || lstatSync(file).isDirectory();
    },
  });
}

/** A bundle contains the code of packages but not their files, so their licences are copied. */
function copyLicences(folderOfPackage: string, to: string): void {
  for (const name of readdirSync(join(root, folderOfPackage)).filter((file) => LICENCE.test(file)))
    cpSync(join(root, folderOfPackage, name), join(to, folderOfPackage.replace(/^.*node_modules\//, ''), name), {
      recursive: true,
    });
}

function copyFromRoot(path: string, folder: string): void {
  if (existsSync(join(root, path))) cpSync(join(root, path), join(folder, path), { recursive: true });
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
