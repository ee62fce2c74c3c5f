import { Controller, Get, Headers, Inject, Param, Res } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { acceptsGzip } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { ReferenceFiles } from './reference-files.js';

/** Allows only files of this host and no inline scripts. Inline styles are allowed because Swagger UI needs them. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The API reference: a page for each audience, and the OpenAPI documents. It is generated from the code
 * (docs/reference). It is public, because it contains no data of merchants or partners.
 *
 * @internal
 */
@Controller('reference')
export class ReferenceController {
  constructor(@Inject(ReferenceFiles) private readonly files: ReferenceFiles) {}

  @Get()
  async index(
    @Headers('accept-encoding') acceptEncoding: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.sendFile(reply, 'index.html', acceptEncoding);
  }

  @Get(':file')
  async file(
    @Param('file') file: string,
    @Headers('accept-encoding') acceptEncoding: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.sendFile(reply, file, acceptEncoding);
  }

  private async sendFile(reply: FastifyReply, name: string, acceptEncoding = ''): Promise<void> {
    const file = this.files.find(name);
    if (!file) throw new DomainError('resource.not-found');
    const isCompressed = acceptsGzip(acceptEncoding);
    if (isCompressed) reply.header('content-encoding', 'gzip');
    await reply
      .headers({
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'cache-control': 'public, max-age=300',
        vary: 'accept-encoding',
      })
      .type(file.contentType)
      .send(isCompressed ? file.compressed : file.content);
  }
}
