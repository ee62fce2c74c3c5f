import { Controller, Get, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { RebuildHistory, type RebuildState } from './rebuild-history.js';

/** For administrators: the read model from the log, while it is read. */
@Controller('admin/v1/history/rebuild')
@UseGuards(AdminKeyGuard)
export class RebuildController {
  constructor(@Inject(RebuildHistory) private readonly rebuild: RebuildHistory) {}

  /** 202; the same while one is being built. */
  @Post()
  @HttpCode(202)
  begin(): Promise<RebuildState> {
    return this.rebuild.execute();
  }

  @Get()
  state(): Promise<RebuildState> {
    return this.rebuild.state();
  }
}
