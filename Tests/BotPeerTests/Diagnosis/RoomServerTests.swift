import NIOCore
import TestSupport
import Testing

@testable import BotPeer

@Suite("The answer of a room server")
struct RoomServerTests {
  private static let date = 784_111_777

  @Test(
    "a head gives the status and the date",
    arguments: [
      ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\u{81}", 101, nil),
      ("HTTP/1.1 200 OK\r\nServer: x\r\nDATE:  Sun, 06 Nov 1994 08:49:37 GMT \r\n\r\nbody", 200, Self.date),
      ("HTTP/1.0 404 Not Found\r\nDate: Sunday, 06-Nov-94 08:49:37 GMT\r\n\r\n", 404, nil),
      ("HTTP/1.1 204\r\n\r\n", 204, nil),
    ] as [(String, Int, Int?)])
  func complete(text: String, status: Int, date: Int?) {
    #expect(HTTPHead.parse(ByteBuffer(string: text)) == .complete(HTTPHead(status: status, date: date)))
  }

  @Test("a part of a head is incomplete, and other bytes are invalid")
  func others() {
    for text in ["", "HT", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nDate: x\r\n"] {
      #expect(HTTPHead.parse(ByteBuffer(string: text)) == .incomplete)
    }
    for text in ["SSH-2.0-OpenSSH\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 999 \r\n\r\n"] {
      #expect(HTTPHead.parse(ByteBuffer(string: text)) == .invalid)
    }
    let endless = "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 4_000)
    #expect(HTTPHead.parse(ByteBuffer(string: endless)) == .invalid)
  }

  @Test("damaged dates are no dates")
  func dates() {
    #expect(WallClockText.seconds(ofHTTPDate: "Sun, 06 Nov 1994 08:49:37 GMT") == Self.date)
    #expect(WallClockText.utc(Self.date) == "1994-11-06T08:49:37Z")
    for text in [
      "", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
      "Sun, 06 Nov 99999999999 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
    ] {
      #expect(WallClockText.seconds(ofHTTPDate: text) == nil, "\(text)")
    }
  }

  @Test("the offset of the clock is that of the middle of the exchange, with its bound")
  func clock() {
    // The server's clock stood between 1000.0 and 1001.0 s when ours stood at 1000.5 s.
    let equal = RoomServerMeasurement.clockOffset(serverDate: 1_000, arrival: 1_000.6, trip: 0.2)
    #expect(equal.seconds == 0 && equal.bound == 0.6 && !equal.isTooLarge)
    let behind = RoomServerMeasurement.clockOffset(serverDate: 1_000, arrival: 990.5, trip: 0)
    #expect(behind.seconds == 10 && behind.bound == 0.5 && behind.isTooLarge)
    #expect(RoomServerMeasurement.clockOffset(serverDate: 1_000, arrival: 1_008.5, trip: 0).seconds == -8)
  }

  @Test("a request asks for a WebSocket, and no name adds a header")
  func request() {
    var address = RoomServerAddress(
      host: "a", port: 1, isSecure: false, authority: "a:1", target: "/rooms?x=1", isWebSocket: true,
      webSocketProtocol: "janus-protocol", shown: "ws://a:1")
    let upgrade = address.request(upgrading: true)
    #expect(upgrade.hasPrefix("GET /rooms?x=1 HTTP/1.1\r\nHost: a:1\r\n"))
    #expect(
      upgrade.contains("Upgrade: websocket\r\n") && upgrade.contains("Sec-WebSocket-Protocol: janus-protocol\r\n"))
    #expect(address.request(upgrading: false).hasPrefix("GET / HTTP/1.1\r\n"))
    address.authority = "a\r\nX: y"
    #expect(address.request(upgrading: true).contains("Host: aX: y\r\n"))
  }
}
