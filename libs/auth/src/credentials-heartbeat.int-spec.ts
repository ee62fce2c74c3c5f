/** A service that receives no heartbeat of identity logs an error, and continues to verify with its stored credentials (A2). */
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { CredentialsHeartbeatV1, PartnerKeyChangedV1 } from '@svc/contracts';
import { MESSAGING_LOG, type MessagingLog } from '@svc/messaging';
import { ServiceConfig } from '@svc/service';
import { anEvent, GaugeReader, httpClient, startTestService, type TestService } from '@svc/testing';
import { hashApiKey, newApiKey } from './api-keys/api-key.js';
import { CredentialsHeartbeat } from './credentials-heartbeat.module.js';
import { PartnerCredentials1763500000020 } from './migrations/1763500000020-partner-credentials.js';
import { PartnerKeyGuard } from './partners/partner.guard.js';
import { PartnerAuthModule } from './partners/partner-auth.module.js';

@Controller('who')
class WhoController {
  @Get()
  @UseGuards(PartnerKeyGuard)
  whoami(): object {
    return {};
  }
}

@Module({ imports: [PartnerAuthModule], controllers: [WhoController] })
class MainApiModule {}

const definition = {
  name: 'main-api',
  config: ServiceConfig,
  module: MainApiModule,
  migrations: [PartnerCredentials1763500000020],
};

let mainApi: TestService;
let gauges: GaugeReader;
let monitor: CredentialsHeartbeat;
const errors: string[] = [];
const infos: string[] = [];

beforeEach(async () => {
  gauges = GaugeReader.begin();
  mainApi = await startTestService(definition);
  monitor = mainApi.service.app.get(CredentialsHeartbeat);
  const log = mainApi.service.app.get<MessagingLog>(MESSAGING_LOG);
  [errors, infos].forEach((lines) => lines.splice(0));
  jest.spyOn(log, 'error').mockImplementation((_, message) => errors.push(message));
  jest.spyOn(log, 'info').mockImplementation((_, message) => message !== 'request' && infos.push(message));
});
afterEach(async () => {
  await mainApi.stop();
  gauges.end();
});

const heartbeat = () =>
  mainApi.deliver({ ...anEvent(CredentialsHeartbeatV1, 'beat', 1, {}), occurredAt: mainApi.clock.nowISO() });
const ageSeconds = async () => (await gauges.read('svc.heartbeat.age')).map(({ value }) => value);

test('missing heartbeats are logged as an error, once, until heartbeats arrive again, and keys are still verified', async () => {
  const apiKey = newApiKey('partner', 'test');
  const keyId = '00000000-0000-4000-8000-000000000001';
  const key = { keyId, organisationId: keyId, mode: 'test' as const, hash: hashApiKey(apiKey), revoked: false };
  await mainApi.deliver(anEvent(PartnerKeyChangedV1, keyId, 1, key));
  const status = async () => (await httpClient(mainApi.service, { 'x-api-key': apiKey })('GET', '/who')).status;

  await heartbeat();
  mainApi.clock.advance(30_000);
  await monitor.runOnce();
  expect(errors).toEqual([]);

  mainApi.clock.advance(1_000);
  await monitor.runOnce();
  await monitor.runOnce();
  expect(errors).toEqual(['no heartbeat: revocations may not arrive, cached keys and tokens stay valid']);
  expect(await ageSeconds()).toEqual([31]);
  expect(await status()).toBe(200);

  await heartbeat();
  await monitor.runOnce();
  expect(infos).toEqual(['heartbeats arrive again']);
  expect(await ageSeconds()).toEqual([0]);
  mainApi.clock.advance(31_000);
  await monitor.runOnce();
  expect(errors).toHaveLength(2);
});

test('a service that never received a heartbeat also logs the error, after the time for the first one', async () => {
  mainApi.clock.advance(30_000);
  await monitor.runOnce();
  expect(errors).toEqual([]);
  mainApi.clock.advance(1);
  await monitor.runOnce();
  expect(errors).toHaveLength(1);
});

test('after a start, an old stored heartbeat causes no error until there was time for a new one', async () => {
  const old = new Date(mainApi.clock.now().getTime() - 3_600_000).toISOString();
  await mainApi.deliver({ ...anEvent(CredentialsHeartbeatV1, 'beat', 1, {}), occurredAt: old });
  await monitor.runOnce();
  expect(errors).toEqual([]);
  expect(await ageSeconds()).toEqual([3_600]);
});

test('if heartbeats arrive late, out of order or together, the newest counts', async () => {
  const beatNow = () => ({ ...anEvent(CredentialsHeartbeatV1, 'beat', 1, {}), occurredAt: mainApi.clock.nowISO() });
  const first = beatNow();
  mainApi.clock.advance(10_000);
  const second = beatNow();
  mainApi.clock.advance(10_000);
  await mainApi.deliver(second, first);
  expect(await ageSeconds()).toEqual([10]);
  await heartbeat();
  await mainApi.deliver(first);
  expect(await ageSeconds()).toEqual([0]);
});
