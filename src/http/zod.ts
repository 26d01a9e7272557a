import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

// Must run before the first `.openapi()`, so every schema imports z from here.
extendZodWithOpenApi(z);

export { z };
