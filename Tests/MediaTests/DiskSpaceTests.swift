import Media
import Testing

@Suite("the free space of a folder")
struct DiskSpaceTests {
  @Test("it is known soon after it was asked for, and never waited for")
  func known() async throws {
    let space = DiskSpace(folder: "/")
    #expect(space.free(now: .now) == nil)
    var free: Int64?
    for _ in 0..<200 where free == nil {
      try await Task.sleep(for: .milliseconds(10))
      free = space.free(now: .now)
    }
    #expect(try #require(free) > 0)
    let missing = DiskSpace(folder: "/no/such/folder")
    for _ in 0..<5 { #expect(missing.free(now: .now) == nil) }
  }

  @Test("of several folders it is the least")
  func least() async throws {
    // A file system in memory that never has free space.
    let space = DiskSpace(folders: ["/", "/proc"])
    var free: Int64?
    for _ in 0..<200 where free == nil {
      free = space.free(now: .now)
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(free == 0)
  }
}
