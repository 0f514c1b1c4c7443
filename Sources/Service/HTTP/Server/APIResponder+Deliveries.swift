import Hummingbird
import JSON
import JobProtocol
import Media
import SQLStore

extension APIResponder {
  /// `GET /v1/deliveries`
  func deliveries(_ query: APIQuery, _ token: AccessToken) async throws -> Response {
    let limit = try query.limit()
    let records = try await store.deliveries(
      project: token.project, try query.deliveryFilter(), after: try query.delivery(), limit: limit + 1)
    let shown = Array(records.prefix(limit))
    let last = records.count > limit ? shown.last : nil
    return Self.json(
      .object([
        "deliveries": .array(shown.map(APIDocument.delivery)), "after": .text(last?.id.description),
      ]))
  }

  /// `POST /v1/deliveries/ID/replay`
  func replay(_ id: DeliveryID, _ request: Request, _ token: AccessToken) async throws -> Response {
    let body = try await Self.body(of: request)
    if !body.isEmpty {
      guard case .object(let fields) = try Self.json(body) else {
        throw APIProblem(faults: [JobProblem("", "The body is an object.")])
      }
      if let name = fields.keys.sorted().first {
        throw APIProblem(
          faults: [JobProblem(JobProblem.pointer("", name.printable(utf8Bytes: 64)), "There is no such field.")])
      }
    }
    switch try await store.replay(id, project: token.project) {
    case nil: throw APIProblem(.notFound, "There is no such delivery.")
    case .notEnded?: throw APIProblem(.deliveryPending, "The delivery is pending: it is sent anyway.")
    case .pending(let record)?: return Self.json(APIDocument.delivery(record), status: .accepted)
    }
  }
}
