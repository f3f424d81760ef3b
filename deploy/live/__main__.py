"""`python -m deploy.live` builds the page without a server."""

import sys

from deploy.live.build import main

if __name__ == "__main__":
    sys.exit(main())
