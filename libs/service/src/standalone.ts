import { Controller, Get, Inject, Optional } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { notReady, ReadinessCheck } from './health/readiness.js';
import type { ServiceLog } from './logging.js';
import { type AppDefinition, type AppOptions, closeApp, createApp } from './nest-app.js';

/**
 * `/health/live`: the process responds. `/health/ready`: the app has no {@link ReadinessCheck}, or its check reports
 * that nothing is missing.
 */
@Controller('health')
class StandaloneHealthController {
  constructor(@Optional() @Inject(ReadinessCheck) private readonly check?: ReadinessCheck) {}

  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(): Promise<{ status: string }> {
    const missing = await this.check?.missing();
    if (missing) throw notReady(missing);
    return { status: 'ok' };
  }
}

export interface StandaloneApp {
  readonly app: NestFastifyApplication;
  readonly log: ServiceLog;
  /** Completes the requests in progress, then stops the app's providers. */
  close(): Promise<void>;
}

/**
 * Starts an app without PostgreSQL and without a broker. The app can handle requests, but does not listen on a port
 * yet. This function is for programs that are not a part of the platform and store their own data. The apps of the
 * platform use `startService`.
 */
export async function startStandalone(
  definition: AppDefinition,
  options: Omit<AppOptions, 'controllers'>,
): Promise<StandaloneApp> {
  const app = await createApp(definition, { ...options, controllers: [StandaloneHealthController] });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return { app, log: options.log, close: () => closeApp(app) };
}
