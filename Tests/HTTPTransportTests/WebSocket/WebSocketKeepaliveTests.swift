import NIOCore
import Testing

@testable import HTTPTransport

@Suite("WebSocket keepalive")
struct WebSocketKeepaliveTests {
  private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

  @Test("silence causes a ping, and further silence ends the connection")
  func silence() {
    var keepalive = WebSocketKeepalive(interval: .seconds(15), timeout: .seconds(10), now: start)
    #expect(keepalive.deadline == start + .seconds(15))
    #expect(keepalive.poll(now: start + .seconds(14)) == .wait)
    #expect(keepalive.poll(now: start + .seconds(15)) == .ping)
    #expect(keepalive.deadline == start + .seconds(25))
    #expect(keepalive.poll(now: start + .seconds(24)) == .wait)
    #expect(keepalive.poll(now: start + .seconds(25)) == .giveUp(silence: .seconds(25)))
  }

  @Test("any received byte postpones the next ping")
  func life() {
    var keepalive = WebSocketKeepalive(interval: .seconds(15), timeout: .seconds(10), now: start)
    keepalive.heard(now: start + .seconds(10))
    #expect(keepalive.poll(now: start + .seconds(15)) == .wait)
    #expect(keepalive.poll(now: start + .seconds(25)) == .ping)
    keepalive.heard(now: start + .seconds(26))
    #expect(keepalive.poll(now: start + .seconds(35)) == .wait)
    #expect(keepalive.deadline == start + .seconds(41))
  }

  @Test("after a ping that the owner wants, the other side must send something within the owner's limit")
  func verification() {
    var keepalive = WebSocketKeepalive(interval: .seconds(15), timeout: .seconds(10), now: start)
    keepalive.pinged(within: .seconds(5), now: start + .seconds(1))
    #expect(keepalive.deadline == start + .seconds(6))
    keepalive.pinged(within: .seconds(5), now: start + .seconds(3))
    #expect(keepalive.deadline == start + .seconds(6), "repeating it postpones nothing")
    #expect(keepalive.poll(now: start + .seconds(6)) == .giveUp(silence: .seconds(6)))
    keepalive.heard(now: start + .seconds(5))
    #expect(keepalive.poll(now: start + .seconds(6)) == .wait)
    #expect(keepalive.poll(now: start + .seconds(20)) == .ping)
    keepalive.pinged(within: .seconds(5), now: start + .seconds(28))
    #expect(keepalive.deadline == start + .seconds(30))
  }

  @Test("a process that was not scheduled pings again before it gives up the other side")
  func ownSleep() {
    var keepalive = WebSocketKeepalive(interval: .seconds(15), timeout: .seconds(10), now: start)
    #expect(keepalive.poll(now: start + .seconds(15)) == .ping)
    #expect(keepalive.poll(now: start + .seconds(100)) == .ping)
    #expect(keepalive.poll(now: start + .seconds(110)) == .giveUp(silence: .seconds(110)))
  }
}
