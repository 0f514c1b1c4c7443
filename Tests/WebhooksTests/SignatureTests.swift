import JSON
import Testing
import Webhooks

@Suite("Messages and their signatures")
struct SignatureTests {
  @Test func `the signature is that of the example of Standard Webhooks`() throws {
    let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let message = WebhookMessage(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8))
    let fields = try #require(message.fields(at: 1_614_265_330, secrets: WebhookSecretList(secret)))
    #expect(fields.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
    #expect(
      fields.map(\.value) == [
        "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      ])
  }

  @Test func `a file with two secrets gives two signatures, and comments have no meaning`() throws {
    let one = try #require(WebhookSecret.randomText())
    let two = try #require(WebhookSecret.randomText())
    let list = try WebhookSecretList(parsing: "# app\n  \(one) \r\n\n\(two)\n")
    let message = WebhookMessage(id: "e1", body: [])
    let both = try #require(message.fields(at: 1, secrets: list)).last?.value.split(separator: " ")
    var single: [String?] = []
    for text in [one, two] {
      let secret = try #require(WebhookSecret(text))
      single.append(message.fields(at: 1, secrets: WebhookSecretList(secret))?.last?.value)
    }
    #expect(both?.map { String($0) } == single)
    #expect(one != two)
  }

  @Test(arguments: [
    "", "\n# nothing\n", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\nnonsense",
    String(repeating: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", count: 3),
  ])
  func `a file without one or two whole secrets is refused, and no error repeats it`(text: String) {
    do throws(WebhookSecretList.ParseError) {
      _ = try WebhookSecretList(parsing: text)
      Issue.record("It was read.")
    } catch {
      #expect(error.line >= 1)
      #expect(!error.sentence.contains("MfKQ"))
    }
  }

  @Test func `a message has the fields of the event in an order that does not change`() throws {
    let event = WebhookMessage.Event(
      id: "e7", type: "job.started", timestamp: "2026-12-01T09:00:00.000Z",
      job: .object(["id": "a", "kind": "record", "room": .null, "labels": .object(["b": "1", "a": "/"])]), sequence: 3,
      attempt: 1, data: .object([:]))
    let message = try WebhookMessage(event)
    #expect(message.id == "e7")
    #expect(
      String(decoding: message.body, as: UTF8.self)
        == #"{"attempt":1,"data":{},"job":{"id":"a","kind":"record","labels":{"a":"/","b":"1"},"room":null},"#
        + #""sequence":3,"timestamp":"2026-12-01T09:00:00.000Z","type":"job.started"}"#)
    #expect(try WebhookMessage(event) == message)
  }

  @Test func `tries follow after 1, 5 and 30 s, 2 and 10 min, then each 30 min`() {
    let delays = (1...8).map { RetrySchedule.delay(afterTries: $0) / 1_000 }
    #expect(delays == [1, 5, 30, 120, 600, 1_800, 1_800, 1_800])
    #expect(RetrySchedule.delay(afterTries: .max) == 1_800_000)
    #expect(RetrySchedule.delay(afterTries: .min) == 1_000)
  }
}
