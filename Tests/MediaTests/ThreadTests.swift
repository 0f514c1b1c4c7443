import Glibc
import Media
import Testing

@Suite("Threads")
struct ThreadTests {
  @Test("a waiting thread is woken when the value changes, and waits no longer than its timeout")
  func monitor() {
    let monitor = Monitor(0)
    DedicatedThread.start("a test's thread") {
      for number in 1...3 {
        usleep(10_000)
        monitor.withLock { $0 = number }
      }
    }
    let seen = monitor.wait(atMost: .seconds(60)) { $0 == 3 ? "three" : nil }
    #expect(seen == "three")
    let begun = ContinuousClock.now
    let never = monitor.wait(atMost: .milliseconds(30)) { $0 == 4 ? true : nil }
    #expect(never == nil && ContinuousClock.now - begun >= .milliseconds(30))
  }

  @Test("a thread has the first 15 bytes of its name, and the requested niceness")
  func nameAndNiceness() {
    let found = Monitor<(name: String, niceness: Int32)?>(nil)
    DedicatedThread.start("a name that is far too long", niceness: 7) {
      var bytes = [UInt8](repeating: 0, count: 64)
      let file = open("/proc/thread-self/comm", O_RDONLY)
      let count = read(file, &bytes, bytes.count)
      close(file)
      let name = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      let niceness = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
      found.withLock { $0 = (name, niceness) }
    }
    let seen = found.wait(atMost: .seconds(60)) { $0 }
    #expect(seen?.name == "a name that is \n")
    #expect(seen?.niceness == 7)
  }
}
