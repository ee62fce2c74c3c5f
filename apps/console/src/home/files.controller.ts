import { Get, HttpStatus, Param, Query, Res } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { stringifySetCookie } from 'cookie';
import type { FastifyReply } from 'fastify';
import { Allow, PageController } from '../access/access.guard.js';
import { findTexts, LANGUAGE_COOKIE } from '../languages/languages.js';
import { findAsset } from '../layout/console-assets.js';
import { redirect } from '../layout/page-sender.js';
import { readNext } from '../sign-in/sign-in-form.js';

const YEAR_SECONDS = 31_536_000;

/** The files of the pages, and the choice of a language. */
@PageController()
export class FilesController {
  @Get('assets/:file')
  @Allow('public')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const asset = findAsset(`/assets/${file}`);
    if (!asset) throw new DomainError('resource.not-found');
    await reply
      .status(HttpStatus.OK)
      .header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`)
      .type(asset.contentType)
      .send(asset.content);
  }

  /** Remembers a language, and shows the page from which it was chosen, or the start page. */
  @Get('language/:tag')
  @Allow('public')
  async chooseLanguage(
    @Param('tag') tag: string,
    @Query('next') next: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const texts = findTexts(tag);
    if (!texts) throw new DomainError('resource.not-found');
    const value = texts.tag;
    reply.header(
      'set-cookie',
      stringifySetCookie({
        name: LANGUAGE_COOKIE,
        value,
        path: '/',
        maxAge: YEAR_SECONDS,
        sameSite: 'lax',
        httpOnly: true,
      }),
    );
    await redirect(reply, readNext(next));
  }
}
