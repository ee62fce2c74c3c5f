import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { LookRepository } from './look.repository.js';

const MAX_CACHED_BYTES = 4 * 1024 * 1024;
/** After this time, a logo that was deleted is no longer served. */
const TTL_MS = 60_000;
const FILE = /^([0-9a-f]{32})\.png$/;

/** The logos of merchants, for payment pages and e-mails. The address contains the hash, so browsers never ask again. */
@Controller('looks')
export class LogoFilesController {
  private readonly files: LRUCache<string, Buffer>;

  constructor(
    @Inject(LookRepository) private readonly looks: LookRepository,
    @Inject(Clock) clock: Clock,
  ) {
    this.files = new LRUCache({
      maxSize: MAX_CACHED_BYTES,
      sizeCalculation: ({ length }) => length,
      ttl: TTL_MS,
      ttlResolution: 0,
      // For LRUCache, an entry that was stored at 0 has no age.
      perf: { now: () => clock.monotonicMs() + 1 },
    });
  }

  @Get(':file')
  async get(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const [, hash] = FILE.exec(file) ?? [];
    const image = hash === undefined ? undefined : await this.find(hash);
    if (image === undefined) throw new DomainError('resource.not-found');
    await reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      // Programs for e-mails are of another origin.
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/png')
      .send(image);
  }

  private async find(hash: string): Promise<Buffer | undefined> {
    const cached = this.files.get(hash);
    if (cached !== undefined) return cached;
    const image = await this.looks.findLogoFile(hash);
    if (image !== undefined) this.files.set(hash, image);
    return image;
  }
}
