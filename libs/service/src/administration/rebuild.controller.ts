import { Controller, Get, HttpCode, Inject, Post, type Type, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, AuditTrail, Author, type ChangeAuthor } from '@svc/auth';
import { ReadModelRebuild, type RebuildState } from '@svc/messaging';

/**
 * For administrators: rebuilds the read model of a service from the event log, while it serves requests.
 */
export function createRebuildController(name: string): Type {
  // The docstring above is the description of this API in the reference. A service adds the returned class to the
  // controllers of its module, and `rebuildableReadModel`, ADMIN_KEY and AuditTrail to its providers.
  @Controller(`admin/v1/${name}/rebuild`)
  @UseGuards(AdminKeyGuard)
  class RebuildController {
    constructor(
      @Inject(ReadModelRebuild) private readonly rebuild: ReadModelRebuild,
      @Inject(AuditTrail) private readonly audit: AuditTrail,
    ) {}

    /**
     * Rebuilds the read model while it serves requests.
     *
     * @returns 202 The progress. If a rebuild is in progress, no second rebuild is started.
     */
    @Post()
    @HttpCode(202)
    begin(@Author() author: ChangeAuthor): Promise<RebuildState> {
      return this.rebuild.execute((tx) =>
        this.audit.append(tx, author, { action: 'read-model.rebuild-begun', after: { readModel: name } }),
      );
    }

    /** Reads the progress of the newest rebuild. */
    @Get()
    state(): Promise<RebuildState> {
      return this.rebuild.state();
    }
  }
  return RebuildController;
}
