import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

// Must have run before the first schema that describes itself with .openapi(); so every schema of the API takes z from here.
extendZodWithOpenApi(z);

export { z };
