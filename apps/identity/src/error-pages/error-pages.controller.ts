import { Controller, Get, Header, Param } from '@nestjs/common';
import { ERROR_PAGES_PATH } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { ERROR_LIST_PAGE, ERROR_PAGE_POLICY, findErrorPage } from './error-pages.js';

const HTML = 'text/html; charset=utf-8';
/** A new release may change the pages. Caches show the new pages after at most an hour. */
const CACHE_CONTROL = 'public, max-age=3600';

/**
 * The help pages of errors. They are public and have the same content as the documentation.
 *
 * @internal
 */
@Controller(ERROR_PAGES_PATH)
export class ErrorPagesController {
  @Get()
  @Header('content-type', HTML)
  @Header('content-security-policy', ERROR_PAGE_POLICY)
  @Header('cache-control', CACHE_CONTROL)
  list(): string {
    return ERROR_LIST_PAGE;
  }

  @Get(':code')
  @Header('content-type', HTML)
  @Header('content-security-policy', ERROR_PAGE_POLICY)
  @Header('cache-control', CACHE_CONTROL)
  show(@Param('code') code: string): string {
    const page = findErrorPage(code);
    if (page === undefined) throw new DomainError('resource.not-found');
    return page;
  }
}
