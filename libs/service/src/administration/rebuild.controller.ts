import { Controller, Get, HttpCode, Inject, Post, type Type, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { ReadModelRebuild, type RebuildState } from '@svc/messaging';

/**
 * For administrators: rebuilds the read model of a service from the log, while it serves requests.
 */
export function rebuildOf(name: string): Type {
  // A service adds the result to its module's controllers, and `rebuildableReadModel` and ADMIN_KEY to its providers.
  @Controller(`admin/v1/${name}/rebuild`)
  @UseGuards(AdminKeyGuard)
  class RebuildController {
    constructor(@Inject(ReadModelRebuild) private readonly rebuild: ReadModelRebuild) {}

    /**
     * Rebuilds the read model while it serves requests.
     *
     * @returns 202 Its progress; the same while one is being built.
     */
    @Post()
    @HttpCode(202)
    begin(): Promise<RebuildState> {
      return this.rebuild.execute();
    }

    /** Reads the progress of the newest rebuild. */
    @Get()
    state(): Promise<RebuildState> {
      return this.rebuild.state();
    }
  }
  return RebuildController;
}
