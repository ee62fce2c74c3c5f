/**
 * The last step of an image's build: `node docker/steps/tree.ts APP PACKAGES FOLDER` writes all files of the image into
 * FOLDER and prints their size. They are the app's bundled program (build.sh creates this program), the files that the
 * program reads, the packages that it imports directly or indirectly, and its bill of materials (sbom.cdx.json). The packages are copied from PACKAGES
 * (packages.sh installs them).
 */
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { type Bom, selectComponents } from '../../tools/release/sbom.ts';
import { findImagePackages, findInstalledPackages, readImagePrograms, readPackageId } from './image-packages.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * Files that no program reads at run time: types, sources, third-party source maps and manuals. Licences are copied
 * anyway.
 */
const UNUSED_AT_RUN_TIME = /\.(ts|mts|cts|tsx|md|markdown|map|flow)$/;
const LICENCE = /^(licen[cs]e|notice|copying|copyright)/i;

/** Writes all files of an app's image into a folder. Returns their size in bytes. */
export function createTree(app: string, packagesFolder: string, folder: string): number {
  const packages = realpathSync(packagesFolder);
  const programs = readImagePrograms(app);
  for (const file of new Set(programs.flatMap(({ files }) => files)))
    for (const path of [file, `${file}.map`]) copyFromRoot(path, folder);
  for (const folderOfPackage of programs.flatMap(({ bundledPackages }) => bundledPackages))
    copyLicences(folderOfPackage, join(folder, 'licences'));
  for (const files of ['assets', 'dist/pay-assets', 'dist/reference-pages'])
    copyFromRoot(join('apps', app, files), folder);
  // With this file Node.js loads the scripts in the folder as ES modules.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  for (const packageFolder of findInstalledPackages(programs, packages))
    copyPackage(packageFolder, join(resolve(folder), relative(packages, packageFolder)));
  const whole = JSON.parse(readFileSync(join(packages, 'sbom.cdx.json'), 'utf8')) as Bom;
  const bom = selectComponents(whole, `@svc/${app}`, findImagePackages(app, packagesFolder).map(readPackageId));
  writeFileSync(join(folder, 'sbom.cdx.json'), JSON.stringify(bom));
  return computeSize(folder);
}

function copyPackage(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter: (file) => {
      const name = basename(file);
      // Dependencies in node_modules are copied separately.
      if (file !== from && name === 'node_modules') return false;
      return LICENCE.test(name) || !UNUSED_AT_RUN_TIME.test(name) || lstatSync(file).isDirectory();
    },
  });
}

/** Copies the licences of a package whose code is in the bundle. */
function copyLicences(folderOfPackage: string, to: string): void {
  for (const name of readdirSync(join(root, folderOfPackage)).filter((file) => LICENCE.test(file)))
    cpSync(join(root, folderOfPackage, name), join(to, folderOfPackage.replace(/^.*node_modules\//, ''), name), {
      recursive: true,
    });
}

function copyFromRoot(path: string, folder: string): void {
  if (existsSync(join(root, path))) cpSync(join(root, path), join(folder, path), { recursive: true });
}

function computeSize(folder: string): number {
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
  const bytes = createTree(app, packages, folder);
  console.log(`${app}: ${(bytes / 1e6).toFixed(1)} MB`);
}
