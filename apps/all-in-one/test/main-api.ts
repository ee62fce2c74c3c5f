import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { appFor, type Host, SessionCreatedV1 } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { ManualClock, startTestService, type TestService } from '@svc/testing';
import { request } from 'undici';
import { createHostListener } from '../src/host-listener.js';
import { SERVICES } from '../src/services.js';

/** A request to one of the listeners. An object is sent as JSON, a string as it is. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; a text and bytes as they are. */
  readonly body?: object | string | Buffer;
}

export interface ApiResponse {
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The main API: all its services behind their listeners, and a clock that the test advances. */
export interface MainApi {
  readonly clock: ManualClock;
  /** @throws Error if the service was not started */
  service(name: string): TestService;
  /** Endpoints of the main API, such as `POST /v1/payments`: those of all controllers that the route table exposes. */
  readonly endpoints: readonly string[];
  /** Endpoints of the hosted gateway; empty if it was not started. */
  readonly hostedEndpoints: readonly string[];
  /** Endpoints of the administration API. */
  readonly adminEndpoints: readonly string[];
  /** Calls the main API. For an event stream the text of the response is empty. */
  call(call: ApiRequest): Promise<ApiResponse>;
  /** Calls the hosted gateway. */
  callHosted(call: ApiRequest): Promise<ApiResponse>;
  /** Calls the administration API with exactly these headers. */
  callAdmin(call: ApiRequest): Promise<ApiResponse>;
  /** Returns the digits of the QR code that the page of a session shows. */
  findSessionCode(sessionId: string): Promise<string>;
  /** Calls the administration API as an administrator. @throws Error if the call fails */
  administer(method: string, path: string, body?: object): Promise<Record<string, string>>;
  /** Relays the events of all services once. */
  relayAllEvents(): Promise<void>;
  stop(): Promise<void>;
}

export const ADMIN_KEY = randomBytes(32).toString('base64url');
const SEALING_KEY = createHash('sha256').update('a sealing key for tests').digest('base64url');

/** Environment of each service that the main API and the administration API need. */
const mainApiEnvironments = (acquirerUrl: string): Readonly<Record<string, Record<string, string>>> => ({
  identity: { SVC_SEALING_KEY: SEALING_KEY, SVC_CONSOLE_URL: 'https://console.example' },
  'webhook-dispatcher': { SVC_SEALING_KEY: SEALING_KEY, SVC_DELIVERY: 'off' },
  'payment-processor': {
    SVC_SEALING_KEY: SEALING_KEY,
    SVC_CARD_FINGERPRINT_KEYS: SEALING_KEY,
    SVC_ACQUIRER_URL: acquirerUrl,
    // Some callers use live mode, which needs an acquirer too.
    SVC_ACQUIRER_LIVE: 'simulated',
    SVC_API_URL: 'https://api.example',
    SVC_CODES_URL: 'https://pay.example',
  },
  'code-decoder': { SVC_CODES_URL: 'https://pay.example' },
  'payment-history': {},
  console: { SVC_CONSOLE_URL: 'https://console.example', SVC_CODES_URL: 'https://pay.example' },
  // The tests send more requests than the default rate limit of a key allows.
  'merchant-retrieval': { SVC_RETRIEVAL_BURST: '100000', SVC_STREAM_READERS_PER_KEY: '100' },
});

/** The tests send more requests than the default rate limits of a client's address allow. */
const HOSTED_GATEWAY_ENVIRONMENT = {
  'hosted-gateway': {
    SVC_GATEWAY_URL: 'https://pay.example',
    SVC_CODES_URL: 'https://pay.example',
    SVC_CHALLENGE_KEYS: SEALING_KEY,
    SVC_ACQUIRER_LIVE: 'simulated',
    SVC_KEYLESS_CALLS_PER_MINUTE: '100000',
    SVC_DELIVERIES_CALLS_PER_MINUTE: '100000',
    SVC_PAYMENTS_PER_MINUTE: '100000',
    SVC_MAIL_FROM: 'payments@svc.example',
  },
};

/** Receipts are written into a folder of the test. */
const withMailFolder = (environments: typeof HOSTED_GATEWAY_ENVIRONMENT, folder: string) => ({
  'hosted-gateway': { ...environments['hosted-gateway'], SVC_MAIL_FOLDER: folder },
});

interface MainApiOptions {
  /** Whether the hosted gateway runs too. */
  readonly hostedGateway?: boolean;
  /** The first time of the clock. */
  readonly startAt?: Date;
}

export async function startMainApi({ hostedGateway = false, startAt }: MainApiOptions = {}): Promise<MainApi> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-main-api-'));
  const [broker, clock] = [new EmbeddedBroker(), new ManualClock(startAt)];
  const bank = await startSimulatedAcquirer(
    { SVC_ACQUIRER_STORE: join(folder, 'charges.jsonl'), SVC_ACQUIRER_LIVE: 'simulated' },
    () => clock.now(),
  );
  const services: TestService[] = [];
  const serviceEnvironments = {
    ...mainApiEnvironments(bank.url),
    ...(hostedGateway ? withMailFolder(HOSTED_GATEWAY_ENVIRONMENT, join(folder, 'mail')) : {}),
  };
  for (const [name, env] of Object.entries(serviceEnvironments)) {
    const definition = SERVICES.find((service) => service.name === name)!;
    services.push(await startTestService(definition, { broker, clock, env: { SVC_ADMIN_KEY: ADMIN_KEY, ...env } }));
  }
  const runningServices = services.map(({ service }) => service);
  const listeners = {
    api: createHostListener('api', runningServices),
    admin: createHostListener('admin', runningServices),
    gateway: createHostListener('gateway', runningServices),
  };
  for (const listener of Object.values(listeners)) {
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
  }
  const call = async (
    host: keyof typeof listeners,
    { method, path, headers = {}, body }: ApiRequest,
  ): Promise<ApiResponse> => {
    const { port } = listeners[host].address() as AddressInfo;
    const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
    const json = isJson ? { 'content-type': 'application/json' } : {};
    // A call of `fetch` takes four times as much processor time, and some tests send thousands of requests.
    const response = await request(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...json, ...headers },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
    });
    const responseHeaders = new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
    const isStream = responseHeaders.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream) response.body.destroy();
    const text = isStream ? '' : await response.body.text();
    return { status: response.statusCode, headers: responseHeaders, text };
  };
  return {
    clock,
    service: (name) => {
      const testService = services.find(({ service }) => service.name === name);
      if (!testService) throw new Error(`${name} was not started.`);
      return testService;
    },
    endpoints: services.flatMap((service) => endpointsOf('api', service)),
    hostedEndpoints: services.flatMap((service) => endpointsOf('gateway', service)),
    adminEndpoints: services.flatMap((service) => endpointsOf('admin', service)),
    call: (request) => call('api', request),
    callHosted: (request) => call('gateway', request),
    callAdmin: (request) => call('admin', request),
    findSessionCode: async (sessionId) => {
      const gateway = services.find(({ service }) => service.name === 'hosted-gateway');
      const created = (await gateway?.published(SessionCreatedV1))?.find((event) => event.aggregateId === sessionId);
      const code = created?.payload.payable.source.code;
      if (code === undefined) throw new Error('There is no such session.');
      return code;
    },
    administer: async (method, path, body) => {
      const headers = { 'x-admin-key': ADMIN_KEY };
      const response = await call('admin', { method, path: `/admin/v1${path}`, headers, ...(body ? { body } : {}) });
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
      return (response.text === '' ? {} : JSON.parse(response.text)) as Record<string, string>;
    },
    relayAllEvents: async () => {
      for (const service of services) await service.relay();
    },
    stop: async () => {
      for (const listener of Object.values(listeners)) {
        listener.closeAllConnections();
        await new Promise((resolve) => listener.close(resolve));
      }
      for (const service of services) await service.stop();
      await bank.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A provider of a service, by the name of its class, because apps do not import each other. */
export function findProvider(api: MainApi, service: string, providerName: string): unknown {
  const modules = [...api.service(service).service.app.get(ModulesContainer).values()];
  return modules.flatMap(({ providers }) => [...providers.values()]).find(({ name }) => name === providerName)!
    .instance;
}

/** Endpoints of a service's controllers, without those that the route table does not forward to this service. */
function endpointsOf(host: Host, { service }: TestService): string[] {
  const controllers = [...service.app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  const endpoints = controllers.flatMap(({ metatype }) => {
    const { prototype } = metatype as { prototype: object };
    const bases = pathsOf(metatype as object);
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = (prototype as Record<string, unknown>)[name] as object;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      return bases.flatMap((base) =>
        pathsOf(handler).map((own) => {
          const parts = [base, own].flatMap((path) => path.split('/').filter(Boolean));
          return `${RequestMethod[method]} /${parts.join('/')}`;
        }),
      );
    });
  });
  const isForwarded = (endpoint: string): boolean => {
    const [method, path] = endpoint.split(' ') as [string, string];
    return appFor(host, path.replaceAll(/:\w+|\*/g, 'x'), method) === service.name;
  };
  return [...new Set(endpoints)].filter(isForwarded).sort();
}

/** The paths in the metadata of a controller class or of its method. */
function pathsOf(target: object): string[] {
  const paths = Reflect.getMetadata(PATH_METADATA, target) as string | string[];
  return Array.isArray(paths) ? paths : [paths];
}

/** Stores a second factor of a person. It is no valid one: the person cannot sign in with it. */
export async function addSecondFactor(api: MainApi, personId: string): Promise<void> {
  await api
    .service('identity')
    .superuser.query(
      `UPDATE people SET totp_secret = 'none', totp_created_at = created_at, totp_last_step = 0 WHERE person_id = $1`,
      [personId],
    );
}
