#include "app/process/program.hpp"

#include "tests/app/process/apart.hpp"
#include "tests/app/refusal.hpp"
#include "tests/support/text.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

using test::contents;
using test::Folder;
using test::write;
using yodel::PortFile;
namespace fs = std::filesystem;

namespace {

std::string refusal(const std::string& path) {
    return test::refusal([&] { const PortFile file(path, "7\n"); });
}

std::ptrdiff_t entries(const Folder& folder) {
    return std::distance(fs::directory_iterator(folder.path), fs::directory_iterator());
}

}  // namespace

TEST_CASE("a port file exists for the life of its object, and no other file does") {
    const Folder folder;
    {
        const PortFile file(folder / "port", "7\n");
        CHECK(contents(folder / "port") == "7\n");
        CHECK(entries(folder) == 1);
        write(folder / "other", "");
        CHECK(fs::status(folder / "port").permissions() ==
              fs::status(folder / "other").permissions());
    }
    CHECK(entries(folder) == 1);
    const PortFile none("", "7\n");
}

TEST_CASE("a port file replaces a plain file as a whole, and follows no link beside it") {
    const Folder folder;
    write(folder / "port", "an older one, which is longer\n");
    fs::create_symlink(folder / "precious", folder / "port.new");
    const PortFile file(folder / "port", "7\n");
    CHECK(contents(folder / "port") == "7\n");
    CHECK_FALSE(fs::exists(folder / "precious"));
}

TEST_CASE("a port file never replaces a link, a FIFO, a device or a folder") {
    const struct {
        const char* name;
        std::function<void(const Folder&, const std::string&)> plant;
    } rows[] = {
        {"a link to a file",
         [](auto& folder, auto& at) { fs::create_symlink(folder / "precious", at); }},
        {"a link to nothing",
         [](auto& folder, auto& at) { fs::create_symlink(folder / "nothing", at); }},
        {"a link to a device", [](auto&, auto& at) { fs::create_symlink("/dev/null", at); }},
        {"a FIFO", [](auto&, auto& at) { ::mkfifo(at.c_str(), 0600); }},
        {"a folder", [](auto&, auto& at) { fs::create_directory(at); }},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        const Folder folder;
        const std::string file = folder / "port";
        write(folder / "precious", "precious");
        row.plant(folder, file);
        const auto before = fs::symlink_status(file).type();
        CHECK(refusal(file) ==
              "--port-file: cannot write " + file + ": it is not a regular file");
        CHECK(fs::symlink_status(file).type() == before);
        CHECK(contents(folder / "precious") == "precious");
        CHECK(entries(folder) == 2);
    }
}

TEST_CASE("a port file that another server has replaced is kept") {
    const Folder folder;
    const std::string file = folder / "port";
    std::optional<PortFile> first(std::in_place, file, "7\n");
    SECTION("by another port file") {
        const PortFile second(file, "8\n");
        first.reset();
        CHECK(contents(file) == "8\n");
    }
    SECTION("after it was removed") {
        fs::remove(file);
        write(file, "8\n");
        first.reset();
        CHECK(contents(file) == "8\n");
    }
    SECTION("by a link to it") {
        fs::rename(file, folder / "other");
        fs::create_symlink(folder / "other", file);
        first.reset();
        CHECK(contents(file) == "7\n");
        CHECK(fs::is_symlink(file));
    }
}

TEST_CASE("a port file that can't be written is refused with the reason, and leaves nothing") {
    CHECK(refusal("/no/such/folder/port") ==
          "--port-file: cannot write /no/such/folder/port: No such file or directory");
    const Folder folder;
    CHECK(test::apart([&] {
              const rlimit none{0, 0};
              ::setrlimit(RLIMIT_FSIZE, &none);
              std::signal(SIGXFSZ, SIG_IGN);
              std::fputs(refusal(folder / "port").c_str(), stderr);
              return 0;
          }).errors == "--port-file: cannot write " + (folder / "port") + ": File too large");
    CHECK(entries(folder) == 0);
}
