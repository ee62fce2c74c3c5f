/** Finds the packages of an app's image: for the files of the image (tree.ts), and for the release's bill of materials. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Program, type Programs, PROGRAMS_FILE } from '../../tools/bundle/programs.ts';

const root = join(import.meta.dirname, '..', '..');

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

/** Packages that telemetry loads by name when tracing is on, so that no import refers to them. */
const LOADED_BY_TELEMETRY = /^@opentelemetry\//;

/** Finds the folders of all packages in an app's image: those that its programs contain, and those that they import. */
export function findImagePackages(app: string, packagesFolder: string): string[] {
  const programs = readImagePrograms(app);
  const bundled = programs.flatMap(({ bundledPackages }) => bundledPackages.map((path) => join(root, path)));
  return [...new Set([...bundled, ...findInstalledPackages(programs, realpathSync(packagesFolder))])];
}

/** `name@version` of the package in a folder. */
export function readPackageId(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
  return `${name}@${version}`;
}

/** The programs of an image: the app, and the telemetry that is loaded before it. */
export function readImagePrograms(app: string): Program[] {
  const programs = JSON.parse(readFileSync(PROGRAMS_FILE, 'utf8')) as Programs;
  const [program, telemetry] = [programs[`${app}/main`], programs['telemetry/main']];
  if (program === undefined || telemetry === undefined) throw new Error(`there is no app "${app}" in ${PROGRAMS_FILE}`);
  return [program, telemetry];
}

export function findInstalledPackages([program]: readonly Program[], packages: string): Set<string> {
  const telemetryPackages = Object.keys(readManifest(join(packages, 'libs/service')).dependencies ?? {}).filter(
    (name) => LOADED_BY_TELEMETRY.test(name),
  );
  return findDependencies([...(program?.packages ?? []), ...telemetryPackages], packages);
}

/**
 * Finds the folders of packages and of all their dependencies, as Node.js resolves them. Optional packages may be
 * missing.
 */
function findDependencies(names: readonly string[], packages: string): Set<string> {
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
