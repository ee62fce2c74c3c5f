/** Loaded before a program (`--import`): moves its process into the memory cgroup in the variable MEMORY_GROUP. */
import { writeFileSync } from 'node:fs';

const folder = process.env['MEMORY_GROUP'];
if (folder !== undefined) writeFileSync(`${folder}/cgroup.procs`, String(process.pid));
