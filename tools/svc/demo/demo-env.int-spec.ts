import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../settings/settings.ts';
import { demoEnv } from './demo-env.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-demo-env-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const settings = { dataDir, root: dataDir } as Settings;

test('demoEnv fails when there is no demo data', () => {
  expect(() => demoEnv(settings)).toThrow('there is no demo data yet');
});

test('a shell that evaluates the output of demoEnv has the unchanged values in its variables', () => {
  const site = {
    siteId: 5001,
    siteReference: 'S',
    apiKey: 'site-key',
    webhookSecret: 'whsec_a+/=',
    requireApiKey: true,
  };
  const demo = {
    apiUrl: 'http://127.0.0.1:7300',
    gatewayUrl: 'http://127.0.0.1:7301',
    shopUrl: '',
    consoleUrl: '',
    adminUrl: '',
    adminKey: 'admin',
    transformerUrl: 'http://127.0.0.1:7305',
    transformerApiKey: 'k',
    merchants: [{ merchantId: 1001, name: 'M', apiKey: 'merchant-key', sites: [site, { ...site, siteId: 5002 }] }],
    partner: { organisationId: 'o', name: 'P', apiKey: 'partner-key', apiToken: 'token' },
    customers: [{ email: 'a@b.example', password: `it's $HOME \`id\` "x"` }],
  };
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'demo.json'), JSON.stringify(demo));
  const script = `${demoEnv(settings)}printf '%s\\n' "$CUSTOMER_PASSWORD" "$WEBHOOK_SECRET" "$MERCHANT_ID" "$KEYLESS_SITE_ID" "\${ADMIN_KEY:-none}"`;
  const output = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { HOME: '/home' } });
  expect(output.split('\n')).toEqual([`it's $HOME \`id\` "x"`, 'whsec_a+/=', '1001', '5002', 'none', '']);
});
