#include "app/process/port_file.hpp"

#include "app/text/exit_status.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using test::contents;
using yodel::PortFile;
namespace fs = std::filesystem;

namespace {

struct Folder {
    Folder()
        : path(fs::temp_directory_path() / ("port_file_test." + std::to_string(::getpid()))) {
        fs::create_directory(path);
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file() const { return path / "port"; }
    std::ptrdiff_t entries() const {
        return std::distance(fs::directory_iterator(path), fs::directory_iterator());
    }
    fs::path path;
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string refusal(const std::string& path) {
    try {
        const PortFile file(path, "7\n");
    } catch (const std::exception& error) {
        return error.what();
    }
    return "made";
}

}  // namespace

TEST_CASE("creates a port file for the life of its object, and no other file") {
    const Folder folder;
    {
        const PortFile file(folder.file(), "7\n");
        CHECK(contents(folder.file()) == "7\n");
        CHECK(folder.entries() == 1);
    }
    CHECK(folder.entries() == 0);
    const PortFile none("", "7\n");
}

TEST_CASE("replaces a plain file as a whole") {
    const Folder folder;
    write(folder.file(), "an older one, which is longer\n");
    const PortFile file(folder.file(), "7\n");
    CHECK(contents(folder.file()) == "7\n");
}

TEST_CASE("never replaces a link, a FIFO or a folder") {
    const Folder folder;
    const std::string other = folder.path / "other";
    SECTION("a link to a file") {
        write(other, "precious");
        fs::create_symlink(other, folder.file());
        CHECK(refusal(folder.file()) ==
              "--port-file: cannot write " + folder.file() + ": it is not a regular file");
        CHECK(contents(other) == "precious");
        CHECK(fs::is_symlink(folder.file()));
    }
    SECTION("a link to nothing") {
        fs::create_symlink(other, folder.file());
        CHECK(refusal(folder.file()) != "made");
        CHECK_FALSE(fs::exists(other));
        CHECK(fs::is_symlink(folder.file()));
    }
    SECTION("a link to a device") {
        fs::create_symlink("/dev/null", folder.file());
        CHECK(refusal(folder.file()) != "made");
        CHECK(fs::is_symlink(folder.file()));
    }
    SECTION("a FIFO") {
        ::mkfifo(folder.file().c_str(), 0600);
        CHECK(refusal(folder.file()) ==
              "--port-file: cannot write " + folder.file() + ": it is not a regular file");
        CHECK(fs::is_fifo(folder.file()));
    }
    SECTION("a folder") {
        fs::create_directory(folder.file());
        CHECK(refusal(folder.file()) != "made");
        CHECK(fs::is_directory(folder.file()));
    }
    CHECK_FALSE(fs::exists(folder.file() + ".new"));
}

TEST_CASE("does not write to a planted name beside the port file") {
    const Folder folder;
    const std::string other = folder.path / "other";
    write(other, "precious");
    fs::create_symlink(other, folder.file() + ".new");
    CHECK(refusal(folder.file()) == "made");
    CHECK(contents(other) == "precious");
    CHECK(fs::is_symlink(folder.file() + ".new"));
}

TEST_CASE("keeps a port file that another server has replaced") {
    const Folder folder;
    std::optional<PortFile> first(std::in_place, folder.file(), "7\n");
    SECTION("made in its place") {
        const PortFile second(folder.file(), "8\n");
        first.reset();
        CHECK(contents(folder.file()) == "8\n");
    }
    SECTION("made after it was removed") {
        fs::remove(folder.file());
        write(folder.file(), "8\n");
        first.reset();
        CHECK(contents(folder.file()) == "8\n");
    }
    SECTION("a link to it") {
        fs::rename(folder.file(), folder.path / "other");
        fs::create_symlink(folder.path / "other", folder.file());
        first.reset();
        CHECK(contents(folder.file()) == "7\n");
        CHECK(fs::is_symlink(folder.file()));
    }
}

TEST_CASE("reports the reason if a port file can't be created") {
    CHECK(refusal("/no/such/folder/port") ==
          "--port-file: cannot write /no/such/folder/port: No such file or directory");
}
