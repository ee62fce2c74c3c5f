import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, APP_PIPE, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type ErrorBody, ErrorFilter } from './http/error-filter.js';
import { httpSettings } from './http/http.js';
import { RequestValidation } from './http/request-bodies/request-validation.js';
import { nestLog, SERVICE_LOG, type ServiceLog } from './logging.js';

/** The settings of an app for HTTP and errors. An app with a database has a {@link ServiceDefinition}. */
export interface AppDefinition {
  /** Name of the app's folder. */
  readonly name: string;
  readonly module: Type<unknown>;
  /** Format of error responses. The default is RFC 9457. */
  readonly errorBody?: ErrorBody;
  /** Maximum length of a path parameter of the app's routes, in characters. */
  readonly maxParamLength?: number;
}

export interface AppOptions {
  readonly log: ServiceLog;
  readonly environment: 'development' | 'production';
  readonly trustedProxies?: string | undefined;
  /** Base address of the error pages (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  /** Whether the app is a service of the platform, which knows the paths of all hosts. */
  readonly explainsUnknownRoutes?: boolean;
  /** Providers that are injectable everywhere in the app. */
  readonly providers: readonly Exclude<Provider, Type<unknown>>[];
  readonly controllers: readonly Type<unknown>[];
}

/** Longest time that a shutdown waits for requests in progress. */
const CLOSE_TIMEOUT_MS = 10_000;

@Module({})
class GlobalModule {}

/** Creates the Nest application. The caller must call `init`. */
export async function createApp(
  definition: AppDefinition,
  { log, environment, trustedProxies, errorPages, explainsUnknownRoutes, providers, controllers }: AppOptions,
): Promise<NestFastifyApplication> {
  const { errorBody, maxParamLength } = definition;
  const errorFormat = { errorBody, errorPages, explainsUnknownRoutes };
  const injectable = [...providers, { provide: SERVICE_LOG, useValue: log }];
  const module: DynamicModule = {
    module: GlobalModule,
    global: true,
    imports: [definition.module],
    providers: [
      ...injectable,
      { provide: APP_FILTER, useValue: new ErrorFilter(log, errorFormat) },
      { provide: APP_PIPE, useClass: RequestValidation },
    ],
    exports: injectable.map(({ provide }) => provide),
    controllers: [...controllers],
  };
  const app = await NestFactory.create<NestFastifyApplication>(
    module,
    new FastifyAdapter(
      httpSettings.options({ ...errorFormat, ...(maxParamLength ? { maxParamLength } : {}) }, log, trustedProxies),
    ),
    { logger: nestLog(log), abortOnError: false, bodyParser: false },
  );
  httpSettings.configure(app.getHttpAdapter().getInstance(), log, environment);
  return app;
}

/**
 * Closes idle connections and completes requests in progress. After 10 s it also closes connections whose client does
 * not read the response.
 */
export async function closeApp(app: NestFastifyApplication): Promise<void> {
  const forceTimer = setTimeout(() => app.getHttpServer().closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close().finally(() => clearTimeout(forceTimer));
}
