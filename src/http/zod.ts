import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

// Must run before the first schema that uses .openapi(), so every schema of the API imports z from
// here.
extendZodWithOpenApi(z);

export { z };
