import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, APP_PIPE, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type ErrorBody, ErrorFilter } from './http/error-filter.js';
import { acceptRequests } from './http/http.js';
import { nestLog, SERVICE_LOG, type ServiceLog } from './logging.js';
import { RequestValidation } from './http/request-validation.js';

/** How an app accepts HTTP and answers errors, wherever it keeps its data. */
export interface AppDefinition {
  /** Name of the app's folder. */
  readonly name: string;
  readonly module: Type<unknown>;
  /** Form of error answers; RFC 9457 unless told otherwise. */
  readonly errorBody?: ErrorBody;
  /** Longest path parameter a route of this service accepts, in characters. */
  readonly paramLengthMax?: number;
}

export interface AppSurroundings {
  readonly log: ServiceLog;
  readonly environment: 'development' | 'production';
  readonly trustedProxies?: string | undefined;
  /** Where the pages of errors are (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  /** Injectable everywhere in the app. */
  readonly providers: readonly Exclude<Provider, Type<unknown>>[];
  readonly controllers: readonly Type<unknown>[];
}

/** Longest that a shutdown waits for requests under way. */
const CLOSE_MS_MAX = 10_000;

@Module({})
class GlobalModule {}

/** Creates the Nest application; `init` has not been called. */
export async function createApp(
  definition: AppDefinition,
  { log, environment, trustedProxies, errorPages, providers, controllers }: AppSurroundings,
): Promise<NestFastifyApplication> {
  const { errorBody, paramLengthMax } = definition;
  const errorForm = { errorBody, errorPages };
  const injectable = [...providers, { provide: SERVICE_LOG, useValue: log }];
  const module: DynamicModule = {
    module: GlobalModule,
    global: true,
    imports: [definition.module],
    providers: [
      ...injectable,
      { provide: APP_FILTER, useValue: new ErrorFilter(log, errorForm) },
      { provide: APP_PIPE, useClass: RequestValidation },
    ],
    exports: injectable.map(({ provide }) => provide),
    controllers: [...controllers],
  };
  const app = await NestFactory.create<NestFastifyApplication>(
    module,
    new FastifyAdapter(
      acceptRequests.options({ ...errorForm, ...(paramLengthMax ? { paramLengthMax } : {}) }, log, trustedProxies),
    ),
    { logger: nestLog(log), abortOnError: false, bodyParser: false },
  );
  acceptRequests.configure(app.getHttpAdapter().getInstance(), log, environment);
  return app;
}

/** Closes idle connections and completes requests under way; a client that does not read holds up no shutdown. */
export async function closeApp(app: NestFastifyApplication): Promise<void> {
  const lastCall = setTimeout(() => app.getHttpServer().closeAllConnections(), CLOSE_MS_MAX);
  await app.close().finally(() => clearTimeout(lastCall));
}
