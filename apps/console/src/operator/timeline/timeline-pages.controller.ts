import { Get, HttpStatus, Inject, Query, Res } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../../access/access.guard.js';
import { sendPage } from '../../layout/page-sender.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { SearchTimelines } from './search-timelines.js';
import { renderTimelinePage } from './timeline-page.js';
import { parseTimelineQuery } from './timeline-query.js';

/** Any payment, with all that happened to it, from whatever the caller reads out. */
@PageController('operator/timeline')
export class TimelinePagesController {
  constructor(@Inject(SearchTimelines) private readonly timelines: SearchTimelines) {}

  @Get()
  @Allow({ operator: 'view' })
  async find(
    @CallingOperator() viewer: OperatorViewer,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const [find, day, mode] = ['find', 'day', 'mode'].map((name) => readText(query[name])) as [string, string, string];
    const choice = { find, day, mode };
    if (find.trim() === '') return sendPage(reply, HttpStatus.OK, renderTimelinePage({ viewer, choice }));
    try {
      const result = await this.timelines.search(
        parseTimelineQuery({ find, day: day || undefined, mode: mode || undefined }),
      );
      await sendPage(reply, HttpStatus.OK, renderTimelinePage({ viewer, choice, result }));
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'request.invalid') throw error;
      const text = error.fields.map(({ message }) => message).join('. ') || error.message;
      const page = renderTimelinePage({ viewer, choice, message: { kind: 'problem', text } });
      await sendPage(reply, HttpStatus.UNPROCESSABLE_ENTITY, page);
    }
  }
}

/** A field that was sent twice is read as empty. */
function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
