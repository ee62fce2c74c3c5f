/** `node docker/demo.ts`: creates the demo merchants and partner on a compose platform, and docker/demo/demo.json for its shop. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { OWNER_ONLY, readJson, writeAtomically } from '../tools/svc/base/files.ts';
import { createAdministrationApi } from '../tools/svc/demo/administration-api.ts';
import { type Demo, DEMO_MERCHANTS, seed } from '../tools/svc/demo/seed.ts';
import { createPartnerApi, seedPartner } from '../tools/svc/demo/seed-partner.ts';

const adminUrl = 'http://127.0.0.1:7303';
const apiUrl = 'http://127.0.0.1:7300';
const file = join(import.meta.dirname, 'demo', 'demo.json');
// The partner's credentials are readable by their owner only.
const partnerFile = join(import.meta.dirname, 'demo', 'partner.json');
const { ADMIN_KEY: adminKey } = parseEnv(readFileSync(join(import.meta.dirname, '.env'), 'utf8'));
if (adminKey === undefined) throw new Error('docker/.env has no ADMIN_KEY: run node docker/secrets.ts');

const known = readJson(file) as Partial<Demo> | undefined;
const administration = createAdministrationApi(adminUrl, adminKey);
const merchants = await seed(administration, DEMO_MERCHANTS, known?.merchants ?? []);
const knownPartner = (readJson(partnerFile) ?? {}) as Partial<Demo>;
const partner = await seedPartner(administration, createPartnerApi(apiUrl), knownPartner);
// The shop's container has another user, so the file is readable; it does not contain the administrator's key.
writeAtomically(file, `${JSON.stringify({ merchants }, null, 2)}\n`, 0o644);
writeAtomically(partnerFile, `${JSON.stringify(partner, null, 2)}\n`, OWNER_ONLY);
console.log(`${merchants.length} merchants, keys in ${file}; a partner with its customers, in ${partnerFile}`);
