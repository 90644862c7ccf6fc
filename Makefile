# `make lab` opens the course in JupyterLab; `make test` runs everything that must hold. Both first make
# a virtual environment in .venv, with the newest Python found here, at least 3.11 (PYTHON=… names another).

VENV := .venv
BIN := $(VENV)/bin
NPM := tests/node_modules/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# $(call stage,name,command): run it, and say how many seconds it took
stage = @echo "== $(1)"; began=$$(date +%s); $(2) || { echo "== $(1): FAILED"; exit 1; }; \
	echo "== $(1): $$(( $$(date +%s) - began )) s"

NBVAL := PYTHONPATH=tests PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(BIN)/python -m pytest -p gate -p nbval.plugin \
	--nbval --nbval-current-env --nbval-cell-timeout=60 --nbval-sanitize-with=mcp_lessons/course/sanitize.cfg

.PHONY: lab test needs lint unit views notebooks refresh bench soak pictures
ifndef AT_ONCE  # two jobs, where they do not disturb each other
.NOTPARALLEL:
endif

lab: $(VENV)/lab-ready
	@$(BIN)/mcp-lessons lab

test: needs $(VENV)/test-ready $(NPM) lint views unit
	@$(MAKE) --no-print-directory --jobs=2 AT_ONCE=yes notebooks refresh
	@echo "== all of it holds"

needs:
	@$(find_python); "$$found" tests/needs.py

lint: $(VENV)/test-ready
	$(call stage,ruff,$(BIN)/ruff check . && $(BIN)/ruff format --check .)

views: $(VENV)/test-ready $(NPM)
	$(call stage,the views under node,$(BIN)/python tests/needs.py --node-tests)

unit: needs $(VENV)/test-ready $(NPM)
	$(call stage,the package and the exercises,$(BIN)/python -m pytest --durations=10)

notebooks: $(VENV)/test-ready
	$(call stage,the notebooks compared with what they say,$(NBVAL) notebooks)

refresh: $(VENV)/test-ready
	$(call stage,the notebooks as they would be written anew,$(BIN)/mcp-lessons refresh --check)

bench: $(VENV)/test-ready needs $(NPM)
	@$(BIN)/python tests/bench/run.py
	@cd tests && PYTHONPATH=. ../$(BIN)/python -m browser.load

soak: $(VENV)/test-ready
	@$(BIN)/python tests/soak/run.py

pictures: $(VENV)/test-ready needs
	@$(BIN)/python tests/browser/pictures.py

$(VENV)/lab-ready: pyproject.toml
	@$(call set_up,.)
	@touch $@

$(VENV)/test-ready: pyproject.toml
	@$(call set_up,.[test])
	@touch $@ $(VENV)/lab-ready

$(NPM): tests/package.json | $(VENV)/test-ready
	$(call stage,npm packages for the tests,$(BIN)/python tests/needs.py --npm)
	@touch $@

# Set $$found to .venv's Python, or to one that can make it; say what to install when there is none
define find_python
for python in $(BIN)/python $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && found=$$python && break; \
done; \
if [ -z "$$found" ]; then \
	echo "Python 3.11 or newer is needed, and neither python3.14, python3.13, python3.12, python3.11 nor python3 is one."; \
	echo "Install it (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python), try again."; \
	exit 1; \
fi
endef

# $(call set_up,what to install): make .venv if it is not there, install into it
define set_up
$(find_python); \
echo "== setting up $(VENV) with $$($$found --version): half a gigabyte of packages, once"; \
if [ "$$found" != $(BIN)/python ]; then \
	if ! "$$found" -c 'import venv, ensurepip' 2>/dev/null; then \
		echo "$$found cannot make a virtual environment. On Debian and Ubuntu: apt install python3-venv, try again."; \
		exit 1; \
	fi; \
	"$$found" -m venv --clear $(VENV) || exit 1; \
fi; \
$(BIN)/python -m pip install --quiet --editable '$(1)'
endef
