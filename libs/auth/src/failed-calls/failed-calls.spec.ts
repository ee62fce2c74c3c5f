import { Controller, Get, HttpException, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FailedCall, MAX_FAILED_CALLS_PER_REQUEST, RecordFailedCallsV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { FailedCalls, MAX_WAITING_CALLS, provideFailedCalls } from './failed-calls.js';

const NOW = '2026-03-01T10:00:00.000Z';
const PATH = '/merchants/7/sites/71/payments';
const CALLER = { merchantId: 7, siteId: undefined, mode: 'test' };

const sent: FailedCall[][] = [];
let answerOfConsole: () => Promise<unknown> = () => Promise.resolve({ recorded: true });

@Controller('merchants/:merchantId/sites/:siteId/payments')
class CallsController {
  @Get(':id')
  call(
    @Req() request: Record<string, unknown>,
    @Res({ passthrough: true }) reply: { header: (...h: string[]) => void },
  ) {
    const { as, status } = request['query'] as { as?: 'merchant' | 'site'; status: string };
    if (as) request[as] = as === 'site' ? { ...CALLER, siteId: 71 } : CALLER;
    if (status === '200') return {};
    reply.header('x-error-code', 'resource.not-found');
    throw new HttpException('no', Number(status));
  }
}

@Module({
  controllers: [CallsController],
  providers: [
    provideFailedCalls(RecordFailedCallsV1),
    { provide: Clock, useValue: { nowISO: () => NOW } },
    {
      provide: Commands,
      useValue: {
        request: (_type: unknown, { calls }: { calls: FailedCall[] }) => {
          sent.push(calls);
          return answerOfConsole();
        },
      },
    },
  ],
})
class CallsModule {}

let app: NestFastifyApplication;
let failedCalls: FailedCalls;
beforeAll(async () => {
  app = await NestFactory.create<NestFastifyApplication>(CallsModule, new FastifyAdapter(), { logger: false });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  failedCalls = app.get(FailedCalls);
});
afterAll(() => app.close());
beforeEach(() => {
  sent.length = 0;
  answerOfConsole = () => Promise.resolve({ recorded: true });
});

const call = (id: string, query: string) => app.inject({ method: 'GET', url: `${PATH}/${id}?${query}&name=Thandi` });

test('a failed call of a merchant is sent once, without its query and without other values of its path', async () => {
  await call('order of Thandi', 'as=merchant&status=404');
  await failedCalls.runStep();
  await failedCalls.runStep();
  expect(sent).toEqual([
    [
      {
        requestId: expect.any(String),
        merchantId: 7,
        mode: 'test',
        method: 'GET',
        path: `${PATH}/:id`,
        statusCode: 404,
        errorCode: 'resource.not-found',
        calledUTCDate: NOW,
      },
    ],
  ]);
});

test('a call of a site has its site', async () => {
  await call('1', 'as=site&status=500');
  await failedCalls.runStep();
  expect(sent[0]).toMatchObject([{ merchantId: 7, siteId: 71, statusCode: 500 }]);
});

test('calls that succeed, and calls of unknown callers, are not sent', async () => {
  await call('1', 'as=merchant&status=200');
  await call('1', 'status=401');
  await app.inject({ method: 'GET', url: '/unknown' });
  await failedCalls.runStep();
  expect(sent).toEqual([]);
});

test('one batch is sent at a time, more calls than the limit are dropped, and a batch that the console refuses is lost', async () => {
  for (let calls = 0; calls < MAX_WAITING_CALLS + 5; calls++) await call('1', 'as=site&status=404');
  let refuse: (error: Error) => void = () => undefined;
  answerOfConsole = () => new Promise((_, reject) => (refuse = reject));
  const first = failedCalls.runStep();
  await failedCalls.runStep();
  expect(sent.map(({ length }) => length)).toEqual([MAX_FAILED_CALLS_PER_REQUEST]);
  refuse(new Error('not ready'));
  await first;
  answerOfConsole = () => Promise.resolve({ recorded: true });
  for (let steps = 0; steps < MAX_WAITING_CALLS / MAX_FAILED_CALLS_PER_REQUEST; steps++) await failedCalls.runStep();
  expect(sent.flat()).toHaveLength(MAX_WAITING_CALLS);
});
