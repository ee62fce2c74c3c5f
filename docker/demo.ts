/** `node docker/demo.ts`: the demo merchants of a platform that compose runs, and docker/demo/demo.json for its shop. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { createAdministrationApi } from '../tools/svc/administration-api.ts';
import { readJson, writeAtomically } from '../tools/svc/files.ts';
import { type Demo, DEMO_MERCHANTS, seed } from '../tools/svc/seed.ts';

const adminUrl = 'http://127.0.0.1:7303';
const file = join(import.meta.dirname, 'demo', 'demo.json');
const { ADMIN_KEY: adminKey } = parseEnv(readFileSync(join(import.meta.dirname, '.env'), 'utf8'));
if (adminKey === undefined) throw new Error('docker/.env has no ADMIN_KEY: run node docker/secrets.ts');

const known = readJson(file) as Partial<Demo> | undefined;
const merchants = await seed(createAdministrationApi(adminUrl, adminKey), DEMO_MERCHANTS, known?.merchants ?? []);
// The shop's container has another user, so the file is readable, and the administrator's key is not in it.
writeAtomically(file, `${JSON.stringify({ merchants }, null, 2)}\n`, 0o644);
console.log(`${merchants.length} merchants, keys in ${file}`);
