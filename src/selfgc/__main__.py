"""`python -m selfgc`: the command line without its installed script."""

from selfgc.cli.main import main

if __name__ == "__main__":
    main(prog_name="selfgc")
