/**
 * A service that receives no heartbeat from identity logs an error, and continues to verify keys with its stored
 * credentials (A2).
 */
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

@Controller('caller')
class CallerController {
  @Get()
  @UseGuards(PartnerKeyGuard)
  getCaller(): object {
    return {};
  }
}

@Module({ imports: [PartnerAuthModule], controllers: [CallerController] })
class MainApiModule {}

const definition = {
  name: 'main-api',
  config: ServiceConfig,
  module: MainApiModule,
  migrations: [PartnerCredentials1763500000020],
};

let mainApi: TestService;
let gauges: GaugeReader;
let heartbeatMonitor: CredentialsHeartbeat;
const errors: string[] = [];
const infos: string[] = [];

beforeEach(async () => {
  gauges = GaugeReader.begin();
  mainApi = await startTestService(definition);
  heartbeatMonitor = mainApi.service.app.get(CredentialsHeartbeat);
  const log = mainApi.service.app.get<MessagingLog>(MESSAGING_LOG);
  [errors, infos].forEach((lines) => lines.splice(0));
  jest.spyOn(log, 'error').mockImplementation((_, message) => errors.push(message));
  jest.spyOn(log, 'info').mockImplementation((_, message) => message !== 'request' && infos.push(message));
});
afterEach(async () => {
  await mainApi.stop();
  gauges.end();
});

const deliverHeartbeat = () =>
  mainApi.deliver({ ...anEvent(CredentialsHeartbeatV1, 'beat', 1, {}), occurredAt: mainApi.clock.nowISO() });
const readAgeSeconds = async () => (await gauges.read('svc.heartbeat.age')).map(({ value }) => value);

test('a service logs one error for each period without heartbeats, and continues to verify keys', async () => {
  const apiKey = newApiKey('partner', 'test');
  const keyId = '00000000-0000-4000-8000-000000000001';
  const key = { keyId, organisationId: keyId, mode: 'test' as const, hash: hashApiKey(apiKey), revoked: false };
  await mainApi.deliver(anEvent(PartnerKeyChangedV1, keyId, 1, key));
  const callWithKey = async () => (await httpClient(mainApi.service, { 'x-api-key': apiKey })('GET', '/caller')).status;

  await deliverHeartbeat();
  mainApi.clock.advance(30_000);
  await heartbeatMonitor.runStep();
  expect(errors).toEqual([]);

  mainApi.clock.advance(1_000);
  await heartbeatMonitor.runStep();
  await heartbeatMonitor.runStep();
  expect(errors).toEqual(['no heartbeat: revocations may not arrive, cached keys and tokens stay valid']);
  expect(await readAgeSeconds()).toEqual([31]);
  expect(await callWithKey()).toBe(200);

  await deliverHeartbeat();
  await heartbeatMonitor.runStep();
  expect(infos).toEqual(['heartbeats arrive again']);
  expect(await readAgeSeconds()).toEqual([0]);
  mainApi.clock.advance(31_000);
  await heartbeatMonitor.runStep();
  expect(errors).toHaveLength(2);
});

test('a service that never received a heartbeat also logs the error, 30 s after its start', async () => {
  mainApi.clock.advance(30_000);
  await heartbeatMonitor.runStep();
  expect(errors).toEqual([]);
  mainApi.clock.advance(1);
  await heartbeatMonitor.runStep();
  expect(errors).toHaveLength(1);
});

test('directly after a start, an old stored heartbeat causes no error', async () => {
  const anHourAgo = new Date(mainApi.clock.now().getTime() - 3_600_000).toISOString();
  await mainApi.deliver({ ...anEvent(CredentialsHeartbeatV1, 'beat', 1, {}), occurredAt: anHourAgo });
  await heartbeatMonitor.runStep();
  expect(errors).toEqual([]);
  expect(await readAgeSeconds()).toEqual([3_600]);
});

test('the reported age is the age of the newest heartbeat, even if heartbeats arrive late or out of order', async () => {
  const createHeartbeat = () => ({
    ...anEvent(CredentialsHeartbeatV1, 'beat', 1, {}),
    occurredAt: mainApi.clock.nowISO(),
  });
  const olderHeartbeat = createHeartbeat();
  mainApi.clock.advance(10_000);
  const newerHeartbeat = createHeartbeat();
  mainApi.clock.advance(10_000);
  await mainApi.deliver(newerHeartbeat, olderHeartbeat);
  expect(await readAgeSeconds()).toEqual([10]);
  await deliverHeartbeat();
  await mainApi.deliver(olderHeartbeat);
  expect(await readAgeSeconds()).toEqual([0]);
});
