import { Controller, Get, HttpCode, Inject, Post, type Type, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { ReadModelRebuild, type RebuildState } from '@svc/messaging';

/**
 * For administrators: builds the read model of a service from the log while it is read.
 */
export function rebuildOf(name: string): Type {
  // A service lists the result among its module's controllers, with `rebuildableReadModel` and ADMIN_KEY among its providers.
  @Controller(`admin/v1/${name}/rebuild`)
  @UseGuards(AdminKeyGuard)
  class RebuildController {
    constructor(@Inject(ReadModelRebuild) private readonly rebuild: ReadModelRebuild) {}

    /**
     * Builds the read model anew while it is read.
     *
     * @returns 202 How far it is; the same while one is being built.
     */
    @Post()
    @HttpCode(202)
    begin(): Promise<RebuildState> {
      return this.rebuild.execute();
    }

    /** Reads how far the newest rebuild is. */
    @Get()
    state(): Promise<RebuildState> {
      return this.rebuild.state();
    }
  }
  return RebuildController;
}
