"""`python -m dpsco_app.site` builds the page without a server."""

import sys

from dpsco_app.site.build import main

if __name__ == "__main__":
    sys.exit(main())
