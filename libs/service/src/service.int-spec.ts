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
import { startTestService, type TestService, waitUntil } from '@svc/testing';
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

class KnownCaller implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    if (headers['x-caller'] !== 'known') throw new DomainError('credentials.invalid');
    return true;
  }
}

const slow = { begun: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() };
const missing = { key: true };

@Controller()
class OrdersController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  @Post('orders')
  @HttpCode(200)
  @UseGuards(KnownCaller)
  create(@Body() order: OrderRequest): unknown {
    return { order, polluted: ({} as Record<string, unknown>)['polluted'] };
  }

  @Get('slow')
  async slow(): Promise<{ finished: boolean }> {
    slow.begun.resolve();
    await slow.end.promise;
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

class KeyHasArrived extends ReadinessCheck {
  override missing(): Promise<string | undefined> {
    return Promise.resolve(missing.key ? 'the key has not arrived' : undefined);
  }
}

@Module({
  controllers: [OrdersController],
  providers: [{ provide: ReadinessCheck, useClass: KeyHasArrived }],
  exports: [ReadinessCheck],
})
class OrdersModule {}

const orders: ServiceDefinition = { name: 'orders', config: ServiceConfig, module: OrdersModule, migrations: [] };
const CALLER = { 'x-caller': 'known' };
const JSON_BODY = { 'content-type': 'application/json' };

let running: TestService;
beforeAll(async () => {
  running = await startTestService(orders);
});
afterAll(() => running.stop());

const post = (payload: string, headers: Record<string, string> = CALLER) =>
  running.service.app.inject({ method: 'POST', url: '/orders', headers: { ...JSON_BODY, ...headers }, payload });
const get = (url: string, headers: Record<string, string> = {}) =>
  running.service.app.inject({ method: 'GET', url, headers });

describe('request bodies', () => {
  it('become objects of the class; unknown fields are dropped at every depth', async () => {
    const answer = await post('{"amount":1,"extra":true,"customFields":[{"key":"a","other":1}]}');
    expect(answer.json()).toEqual({ order: { amount: 1, customFields: [{ key: 'a' }] } });
  });

  it.each(['"1"', 'true', 'null', '1.5', '[1]'])('are not converted: an amount of %s is refused', async (amount) => {
    const answer = await post(`{"amount":${amount}}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json()).toMatchObject({ errors: [{ errorReference: '40', field: 'amount' }] });
  });

  it('are refused with an error that names every wrong field by its path', async () => {
    const answer = await post('{"customFields":[{"key":"fine"},{"key":7},{"key":"far too long"}]}');
    const fields = answer.json<{ errors: { field: string; message: string }[] }>().errors;
    expect(fields.map(({ field }) => field)).toEqual(['amount', 'customFields[1].key', 'customFields[2].key']);
    expect(fields[1]!.message).toMatch(/^customFields\[1\]\.key must be /);
  });

  it.each([
    ...['{', '', '{"amount":1}x', '\u0000'].map((payload) => [payload, 'The body is not valid JSON.'] as const),
    ...['[]', '"text"', '7', 'null'].map((payload) => [payload, 'The body must be a JSON object.'] as const),
  ])('that are not an object (%j) are refused with 400: %s', async (payload, detail) => {
    const answer = await post(payload);
    expect([answer.statusCode, answer.json()]).toEqual([400, expect.objectContaining({ detail })]);
  });

  it.each(['{"amount":1,"__proto__":{"polluted":true}}', '{"amount":1,"constructor":{"prototype":{"polluted":true}}}'])(
    'with keys that reach a prototype are refused: %s',
    async (payload) => {
      const answer = await post(payload);
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        expect.objectContaining({ detail: 'The body is not valid JSON.' }),
      ]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('of another media type are a 415', async () => {
    expect((await post('<amount>1</amount>', { ...CALLER, 'content-type': 'text/xml' })).statusCode).toBe(415);
  });

  it('are read up to the maximum size, and refused with 413 beyond it', async () => {
    const ofLength = (length: number): string => `{"amount":1,"x":"${'x'.repeat(length - 19)}"}`;
    expect((await post(ofLength(MAX_BODY_BYTES))).statusCode).toBe(200);
    const tooLarge = await post(ofLength(MAX_BODY_BYTES + 1));
    expect(tooLarge.statusCode).toBe(413);
    expect(tooLarge.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('credentials are checked before the request', () => {
  it.each(['{', '{"amount":"1"}', '[]', ''])(
    'an unknown caller with the body %j gets an empty 401',
    async (payload) => {
      const answer = await post(payload, {});
      expect(answer.statusCode).toBe(401);
      expect(answer.body).toBe('');
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
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
  ])('%s is a %i with a request id of the service', async (url, status) => {
    const answer = await get(url, { 'x-request-id': 'chosen by the caller' });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('have the request id as their instance, and Retry-After if a retry may succeed', async () => {
    const answer = await get('/busy');
    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.json()).toMatchObject({ instance: answer.headers['x-request-id'], status: 429 });
  });

  it('never contain the text of a database error, and neither does the log', async () => {
    const error = jest.spyOn(running.service.log, 'error');
    const answer = await get('/broken');
    expect(answer.body).not.toMatch(/uuid|secret/);
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({ requestId: answer.headers['x-request-id'] }),
      'request failed',
    );
  });

  it('forbid scripts and frames', async () => {
    const { headers } = await get('/health/live');
    expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
  });
});

describe('each request has one log line, which', () => {
  const lineOf = async (url: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const info = jest.spyOn(running.service.log, 'info').mockClear();
    await get(url, headers);
    expect(info).toHaveBeenCalledTimes(1);
    return info.mock.calls[0]![0];
  };

  it('has the route instead of the address, which contains values of the caller', async () => {
    expect(await lineOf('/health/live?card=4242424242424242')).toEqual({
      requestId: expect.any(String) as string,
      traceparent: undefined,
      method: 'GET',
      route: '/health/live',
      statusCode: 200,
      ms: expect.any(Number) as number,
    });
    expect(JSON.stringify(await lineOf('/nothing/4242424242424242'))).not.toContain('4242');
  });

  it('has the error code, and the reason only for credentials', async () => {
    expect(await lineOf('/nothing/4242424242424242')).toMatchObject({ statusCode: 404, code: 'resource.not-found' });
    expect(await lineOf('/nothing/4242424242424242')).not.toHaveProperty('why');
  });

  it('has the trace id of the caller, if it is valid', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(await lineOf('/health/live', { traceparent })).toMatchObject({ traceparent });
    expect(await lineOf('/health/live', { traceparent: 'x'.repeat(55) })).toMatchObject({ traceparent: undefined });
  });
});

describe('health', () => {
  it('is ready when nothing is missing any more', async () => {
    expect((await get('/health/live')).json()).toEqual({ status: 'ok' });
    const waiting = await get('/health/ready');
    expect(waiting.statusCode).toBe(503);
    expect(waiting.headers['retry-after']).toBe('1');
    expect(waiting.json()).toMatchObject({ detail: 'Not ready: the key has not arrived.' });
    missing.key = false;
    expect((await get('/health/ready')).statusCode).toBe(200);
  });
});

test('a service that closes completes the request in flight', async () => {
  const closing = await startTestService(orders);
  await closing.service.app.listen(0, '127.0.0.1');
  const address = `${await closing.service.app.getUrl()}/slow`;
  const answer = fetch(address).then(async (response) => ({
    status: response.status,
    body: await response.json(),
  }));
  await slow.begun.promise;
  const stopped = closing.stop();
  await waitUntil('new connections to be refused', 3_000, () =>
    fetch(address).then(
      () => false,
      () => true,
    ),
  );
  slow.end.resolve();
  await expect(answer).resolves.toEqual({ status: 200, body: { finished: true } });
  await stopped;
});

test('a service handles no message before its modules have loaded the data for it', async () => {
  const CountKeysV1 = commandType<object, number>('count-keys.v1');
  const broker = new EmbeddedBroker();
  let earlier: unknown;

  @Controller()
  class Keys implements OnModuleInit {
    private loaded = 0;

    async onModuleInit(): Promise<void> {
      earlier = await broker.request(CountKeysV1.name, {}, 1_000).catch((error: unknown) => error);
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
  expect(earlier).toMatchObject({ code: 'service.not-ready' });
  expect(await broker.request(CountKeysV1.name, {}, 1_000)).toEqual({ ok: true, reply: 1 });
  await keys.stop();
});

test('log entries of modules at startup are in the partition of their month', async () => {
  const StartedV1 = eventType<object>('started.v1');

  @Injectable()
  class LogsAtItsStart implements OnModuleInit {
    constructor(
      @Inject(DataSource) private readonly dataSource: DataSource,
      @Inject(EventLog) private readonly events: EventLog,
    ) {}

    async onModuleInit(): Promise<void> {
      const started = { type: StartedV1, aggregateId: 'a', aggregateVersion: 1, payload: {} };
      await inTransaction(this.dataSource, (tx) => this.events.append(tx, started));
    }
  }
  @Module({ providers: [LogsAtItsStart] })
  class EarlyModule {}

  const early = await startTestService({ ...orders, name: 'early', module: EarlyModule });
  const places = await early.service.app
    .get(DataSource)
    .query(`SELECT tableoid::regclass::text AS place FROM event_log`);
  expect(places).toEqual([{ place: 'event_log_2026_03' }]);
  await early.stop();
});
