import { Controller, Get, HttpCode, Inject, Post, type Type, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { ReadModelRebuild, type RebuildState } from '@svc/messaging';

/**
 * For administrators: rebuilds the read model of a service from the event log, while it serves requests.
 */
export function createRebuildController(name: string): Type {
  // The docstring above is the description of this API in the reference. A service adds the returned class to the
  // controllers of its module, and `rebuildableReadModel` and ADMIN_KEY to its providers.
  @Controller(`admin/v1/${name}/rebuild`)
  @UseGuards(AdminKeyGuard)
  class RebuildController {
    constructor(@Inject(ReadModelRebuild) private readonly rebuild: ReadModelRebuild) {}

    /**
     * Rebuilds the read model while it serves requests.
     *
     * @returns 202 The progress. If a rebuild is in progress, no second rebuild is started.
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
