import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@svc/testing';
import { TestEmulator } from '../../test/running-emulator.js';
import { startSimulatedAcquirer } from '../simulated-acquirer.js';
import { startAdyenEmulator } from './adyen-emulator.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-adyen-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the emulator needs its port and its secrets', async () => {
  await expect(startAdyenEmulator({})).rejects.toThrow('SVC_ADYEN_EMULATOR_PORT is not set');
  const start = startAdyenEmulator({ SVC_ADYEN_EMULATOR_PORT: '0' });
  await expect(start).rejects.toThrow(
    /STORE.*API_KEY.*HMAC_KEY.*MERCHANT_ACCOUNTS.*WEBHOOK_USER.*WEBHOOK_PASSWORD.*REPORT_USER.*REPORT_PASSWORD/s,
  );
});

test('an HMAC key of another length is rejected', async () => {
  const emulator = new TestEmulator();
  await expect(emulator.start({ SVC_ADYEN_EMULATOR_HMAC_KEY: 'AB' })).rejects.toThrow('64 hexadecimal digits');
  await emulator.start();
  await emulator.stop();
});

test('the simulated acquirer starts the emulator if its port is set', async () => {
  const port = await findFreePort();
  const acquirer = await startSimulatedAcquirer({
    SVC_ACQUIRER_STORE: join(folder, 'charges.jsonl'),
    SVC_ADYEN_EMULATOR_PORT: String(port),
    SVC_ADYEN_EMULATOR_STORE: join(folder, 'adyen.jsonl'),
    SVC_ADYEN_EMULATOR_API_KEY: 'emulator-api-key',
    SVC_ADYEN_EMULATOR_HMAC_KEY: '00'.repeat(32),
    SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS: 'A',
    SVC_ADYEN_EMULATOR_WEBHOOK_USER: 'user',
    SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD: 'password',
    SVC_ADYEN_EMULATOR_REPORT_USER: 'user',
    SVC_ADYEN_EMULATOR_REPORT_PASSWORD: 'password',
  });
  expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
  await acquirer.close();
  await expect(fetch(`http://127.0.0.1:${port}/health/ready`)).rejects.toThrow('fetch failed');
});
