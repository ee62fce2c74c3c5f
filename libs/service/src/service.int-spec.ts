import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Module,
  type OnModuleInit,
  Post,
  UseGuards,
} from '@nestjs/common';
import { commandType, eventType } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { EmbeddedBroker, EventLog, MessagePattern } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import {
  openTransaction,
  pickSecurityHeaders,
  SERVICE_SECURITY_HEADERS,
  startTestService,
  type TestService,
  waitUntil,
} from '@svc/testing';
import { Type } from 'class-transformer';
import { IsInt, IsString, MaxLength, ValidateNested } from 'class-validator';
import { DataSource } from 'typeorm';
import { MAX_BODY_BYTES } from './http/http.js';
import { ReadinessCheck, ServiceConfig, type ServiceDefinition } from './index.js';

class CustomField {
  @IsString()
  @MaxLength(8)
  key: string;
}

class OrderRequest {
  @IsInt()
  amount: number;

  @ValidateNested({ each: true })
  @Type(() => CustomField)
  customFields: CustomField[] = [];
}

class KnownCallerGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    if (headers['x-caller'] !== 'known') throw new DomainError('credentials.invalid');
    return true;
  }
}

const slowRequest = { started: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() };
const readiness = { isKeyMissing: true };

@Controller()
class OrdersController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  @Post('orders')
  @HttpCode(200)
  @UseGuards(KnownCallerGuard)
  create(@Body() order: OrderRequest): unknown {
    return { order, polluted: ({} as Record<string, unknown>)['polluted'] };
  }

  @Get('slow')
  async slow(): Promise<{ finished: boolean }> {
    slowRequest.started.resolve();
    await slowRequest.end.promise;
    await this.dataSource.query('SELECT 1');
    return { finished: true };
  }

  @Get('broken')
  async broken(): Promise<void> {
    await this.dataSource.query('SELECT $1::uuid', ['a secret value']);
  }

  @Get('busy')
  busy(): void {
    throw new DomainError('request.rate-limited', { retryAfterSeconds: 7 });
  }
}

class KeyReadinessCheck extends ReadinessCheck {
  override missing(): Promise<string | undefined> {
    return Promise.resolve(readiness.isKeyMissing ? 'the key has not arrived' : undefined);
  }
}

@Module({
  controllers: [OrdersController],
  providers: [{ provide: ReadinessCheck, useClass: KeyReadinessCheck }],
  exports: [ReadinessCheck],
})
class OrdersModule {}

const orders: ServiceDefinition = { name: 'orders', config: ServiceConfig, module: OrdersModule, migrations: [] };
const KNOWN_CALLER = { 'x-caller': 'known' };
const JSON_BODY = { 'content-type': 'application/json' };

let running: TestService;
beforeAll(async () => {
  running = await startTestService(orders);
});
afterAll(() => running.stop());

const post = (payload: string, headers: Record<string, string> = KNOWN_CALLER) =>
  running.service.app.inject({ method: 'POST', url: '/orders', headers: { ...JSON_BODY, ...headers }, payload });
const get = (url: string, headers: Record<string, string> = {}) =>
  running.service.app.inject({ method: 'GET', url, headers });

describe('request bodies', () => {
  it('become objects of the class, and unknown fields are removed at every depth', async () => {
    const response = await post('{"amount":1,"extra":true,"customFields":[{"key":"a","other":1}]}');
    expect(response.json()).toEqual({ order: { amount: 1, customFields: [{ key: 'a' }] } });
  });

  it.each(['"1"', 'true', 'null', '1.5', '[1]'])(
    'are not converted to the declared types: an amount of %s is rejected',
    async (amount) => {
      const response = await post(`{"amount":${amount}}`);
      expect(response.statusCode).toBe(400);
      expect(response.headers['content-type']).toContain('application/problem+json');
      expect(response.json()).toMatchObject({ errors: [{ errorReference: '40', field: 'amount' }] });
    },
  );

  it('are rejected with an error that contains the path of every invalid field', async () => {
    const response = await post('{"customFields":[{"key":"fine"},{"key":7},{"key":"far too long"}]}');
    const fields = response.json<{ errors: { field: string; message: string }[] }>().errors;
    expect(fields.map(({ field }) => field)).toEqual(['amount', 'customFields[1].key', 'customFields[2].key']);
    expect(fields[1]!.message).toMatch(/^customFields\[1\]\.key must be /);
  });

  it.each([
    ...['{', '', '{"amount":1}x', '\u0000'].map((payload) => [payload, 'The body is not valid JSON.'] as const),
    ...['[]', '"text"', '7', 'null'].map((payload) => [payload, 'The body must be a JSON object.'] as const),
  ])('are rejected with 400 if they are not a JSON object (%j): %s', async (payload, detail) => {
    const response = await post(payload);
    expect([response.statusCode, response.json()]).toEqual([400, expect.objectContaining({ detail })]);
  });

  it.each(['{"amount":1,"__proto__":{"polluted":true}}', '{"amount":1,"constructor":{"prototype":{"polluted":true}}}'])(
    'are rejected if they have keys that would change a prototype: %s',
    async (payload) => {
      const response = await post(payload);
      expect([response.statusCode, response.json()]).toEqual([
        400,
        expect.objectContaining({ detail: 'The body is not valid JSON.' }),
      ]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('are rejected with 415 if their media type is not JSON', async () => {
    expect((await post('<amount>1</amount>', { ...KNOWN_CALLER, 'content-type': 'text/xml' })).statusCode).toBe(415);
  });

  it('are accepted up to the maximum size, and are rejected with 413 if they are larger', async () => {
    const newBody = (length: number): string => JSON.stringify({ amount: 1 }).padEnd(length, ' ');
    expect((await post(newBody(MAX_BODY_BYTES))).statusCode).toBe(200);
    const tooLarge = await post(newBody(MAX_BODY_BYTES + 1));
    expect(tooLarge.statusCode).toBe(413);
    expect(tooLarge.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a request from an unknown caller', () => {
  it.each(['{', '{"amount":"1"}', '[]', ''])(
    'gets a 401 without a body, even if its own body is %j',
    async (payload) => {
      const response = await post(payload, {});
      expect(response.statusCode).toBe(401);
      expect(response.body).toBe('');
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe('responses', () => {
  it.each([
    ['/health/live', 200],
    ['/nothing/here', 404],
    ['/%zz', 400],
    ['/busy', 429],
    ['/broken', 500],
  ])('to %s have the status %i and a request id that the service generated', async (url, status) => {
    const response = await get(url, { 'x-request-id': 'chosen by the caller' });
    expect(response.statusCode).toBe(status);
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('have the request id as `instance` if they report an error', async () => {
    const response = await get('/busy');
    expect(response.headers['retry-after']).toBe('7');
    expect(response.json()).toMatchObject({ instance: response.headers['x-request-id'], status: 429 });
  });

  it('do not contain the text of a database error, which is logged with the request id', async () => {
    const error = jest.spyOn(running.service.log, 'error');
    const response = await get('/broken');
    expect(response.body).not.toMatch(/uuid|secret/);
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({ requestId: response.headers['x-request-id'] }),
      'request failed',
    );
  });

  it('have headers that forbid scripts and frames', async () => {
    const { headers } = await get('/health/live');
    expect(pickSecurityHeaders(headers)).toEqual(SERVICE_SECURITY_HEADERS);
  });
});

describe('the log entry of a request', () => {
  const readLogEntry = async (url: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const info = jest.spyOn(running.service.log, 'info').mockClear();
    await get(url, headers);
    expect(info).toHaveBeenCalledTimes(1);
    return info.mock.calls[0]![0];
  };

  it('contains the route instead of the URL, because a URL contains values of the caller', async () => {
    expect(await readLogEntry('/health/live?card=4242424242424242')).toEqual({
      requestId: expect.any(String) as string,
      traceparent: undefined,
      method: 'GET',
      route: '/health/live',
      statusCode: 200,
      ms: expect.any(Number) as number,
    });
    expect(JSON.stringify(await readLogEntry('/nothing/4242424242424242'))).not.toContain('4242');
  });

  it('contains the error code, and a reason only for errors of credentials', async () => {
    expect(await readLogEntry('/nothing/4242424242424242')).toMatchObject({
      statusCode: 404,
      code: 'resource.not-found',
    });
    expect(await readLogEntry('/nothing/4242424242424242')).not.toHaveProperty('why');
  });

  it('contains the traceparent of the caller, if it is valid', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(await readLogEntry('/health/live', { traceparent })).toMatchObject({ traceparent });
    expect(await readLogEntry('/health/live', { traceparent: 'x'.repeat(55) })).toMatchObject({
      traceparent: undefined,
    });
  });
});

describe('/health/ready', () => {
  it('responds 503 until the ReadinessCheck reports that nothing is missing', async () => {
    expect((await get('/health/live')).json()).toEqual({ status: 'ok' });
    const notReady = await get('/health/ready');
    expect(notReady.statusCode).toBe(503);
    expect(notReady.headers['retry-after']).toBe('1');
    expect(notReady.json()).toMatchObject({ detail: 'Not ready: the key has not arrived.' });
    readiness.isKeyMissing = false;
    expect((await get('/health/ready')).statusCode).toBe(200);
  });

  it('responds 200 while all connections of the pool are in use', async () => {
    const busy = await startTestService(orders, { env: { SVC_DATABASE_POOL_MAX: '2' } });
    const getReady = () => busy.service.app.inject({ method: 'GET', url: '/health/ready' });
    try {
      await waitUntil('the service to be ready', 10_000, async () => (await getReady()).statusCode === 200);
      await using _first = await openTransaction(busy.dataSource);
      await using _second = await openTransaction(busy.dataSource);
      expect((await getReady()).statusCode).toBe(200);
    } finally {
      await busy.stop();
    }
  });
});

test('an idle connection stays open for longer than the idle timeout of a load balancer, at most 600 s', async () => {
  const listening = await startTestService(orders);
  await listening.service.app.listen(0, '127.0.0.1');
  const { headers } = await fetch(`${await listening.service.app.getUrl()}/health/live`);
  expect(headers.get('keep-alive')).toBe('timeout=620');
  await listening.stop();
});

test('a closing service completes the request in flight', async () => {
  const closing = await startTestService(orders);
  await closing.service.app.listen(0, '127.0.0.1');
  const address = `${await closing.service.app.getUrl()}/slow`;
  const response = fetch(address).then(async (response) => ({
    status: response.status,
    body: await response.json(),
  }));
  await slowRequest.started.promise;
  const stopped = closing.stop();
  await waitUntil('new connections to be refused', 3_000, () =>
    fetch(address).then(
      () => false,
      () => true,
    ),
  );
  slowRequest.end.resolve();
  await expect(response).resolves.toEqual({ status: 200, body: { finished: true } });
  await stopped;
});

test('a service handles no command before onModuleInit of its modules has ended', async () => {
  const CountKeysV1 = commandType<object, number>('count-keys.v1');
  const broker = new EmbeddedBroker();
  let errorDuringInit: unknown;

  @Controller()
  class Keys implements OnModuleInit {
    private loaded = 0;

    async onModuleInit(): Promise<void> {
      errorDuringInit = await broker.request(CountKeysV1.name, {}, 1_000).catch((error: unknown) => error);
      this.loaded = 1;
    }

    @MessagePattern(CountKeysV1)
    count(): Promise<number> {
      return Promise.resolve(this.loaded);
    }
  }
  @Module({ controllers: [Keys] })
  class KeysModule {}

  const keys = await startTestService({ ...orders, name: 'keys', module: KeysModule }, { broker });
  expect(errorDuringInit).toMatchObject({ code: 'service.not-ready' });
  expect(await broker.request(CountKeysV1.name, {}, 1_000)).toEqual({ ok: true, reply: 1 });
  await keys.stop();
});

test('events that modules append at startup are stored in the partition of their month', async () => {
  const StartedV1 = eventType<object>('started.v1');

  @Injectable()
  class AppendsEventAtStart implements OnModuleInit {
    constructor(
      @Inject(DataSource) private readonly dataSource: DataSource,
      @Inject(EventLog) private readonly events: EventLog,
    ) {}

    async onModuleInit(): Promise<void> {
      const started = { type: StartedV1, aggregateId: 'a', aggregateVersion: 1, payload: {} };
      await inTransaction(this.dataSource, (tx) => this.events.append(tx, started));
    }
  }
  @Module({ providers: [AppendsEventAtStart] })
  class EarlyModule {}

  const early = await startTestService({ ...orders, name: 'early', module: EarlyModule });
  const places = await early.service.app
    .get(DataSource)
    .query(`SELECT tableoid::regclass::text AS place FROM event_log`);
  expect(places).toEqual([{ place: 'event_log_2026_03' }]);
  await early.stop();
});
