import HTTPTransport
import NIOCore
import Testing

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

  @Test("an answer that is expected early must arrive within the timeout")
  func verification() {
    var keepalive = WebSocketKeepalive(interval: .seconds(15), timeout: .seconds(10), now: start)
    let isPinged = keepalive.expectAnswer(now: start + .seconds(1))
    #expect(isPinged && keepalive.deadline == start + .seconds(11))
    let isPingedAgain = keepalive.expectAnswer(now: start + .seconds(3))
    #expect(!isPingedAgain && keepalive.deadline == start + .seconds(11), "repeating it postpones nothing")
    keepalive.heard(now: start + .seconds(10))
    #expect(keepalive.poll(now: start + .seconds(11)) == .wait)
    #expect(keepalive.poll(now: start + .seconds(25)) == .ping)
    let isAnswerDue = keepalive.expectAnswer(now: start + .seconds(28))
    #expect(!isAnswerDue && keepalive.deadline == start + .seconds(35))
    #expect(keepalive.poll(now: start + .seconds(35)) == .giveUp(silence: .seconds(25)))
  }

  @Test("a process that was not scheduled pings again before it gives up the other side")
  func ownSleep() {
    var keepalive = WebSocketKeepalive(interval: .seconds(15), timeout: .seconds(10), now: start)
    #expect(keepalive.poll(now: start + .seconds(15)) == .ping)
    #expect(keepalive.poll(now: start + .seconds(100)) == .ping)
    #expect(keepalive.poll(now: start + .seconds(110)) == .giveUp(silence: .seconds(110)))
  }
}
