#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "core/random.h"
#include "models/codec/budget.h"
#include "models/codec/kinds.h"
#include "models/codec/number_format.h"

namespace trilemma::codec_kinds {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A ~ left right^T, S x r and D x r.
struct Factors {
  Matrix left;
  Matrix right;
};

/// Columns share the singular values: sqrt(sigma) on each side, so that both suit the same number format.
Factors balanced(const Eigen::MatrixXf& u, const Eigen::VectorXf& sigma, const Eigen::MatrixXf& v, Eigen::Index rank) {
  const Eigen::VectorXf root = sigma.head(rank).cwiseSqrt();
  return {.left = u.leftCols(rank) * root.asDiagonal(), .right = v.leftCols(rank) * root.asDiagonal()};
}

Factors exact_svd(const Matrix& a, Eigen::Index rank) {
  const Eigen::BDCSVD<Eigen::MatrixXf> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return balanced(svd.matrixU(), svd.singularValues(), svd.matrixV(), rank);
}

Eigen::MatrixXf orthonormal(const Eigen::MatrixXf& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXf> qr(columns);
  return qr.householderQ() * Eigen::MatrixXf::Identity(columns.rows(), columns.cols());
}

constexpr Eigen::Index more_columns = 8;
constexpr int power_iterations = 2;

/// Range finder with power iterations (Halko, Martinsson, Tropp, SIAM Review 53(2), 2011, algorithms 4.4 and 5.1):
/// eight columns more than the rank, two iterations, the same random numbers every time.
Factors randomised_svd(const Matrix& a, Eigen::Index rank) {
  Rng rng = Streams(1, 0).stream("codec/svd");
  const Eigen::Index columns = std::min(rank + more_columns, std::min(a.rows(), a.cols()));
  Eigen::MatrixXf start(a.cols(), columns);
  for (Eigen::Index i = 0; i < start.size(); ++i) start.data()[i] = static_cast<float>(rng.normal());
  Eigen::MatrixXf range = orthonormal(a * start);
  for (int i = 0; i < power_iterations; ++i) range = orthonormal(a * orthonormal(a.transpose() * range));
  const Eigen::MatrixXf small = range.transpose() * a;
  const Eigen::BDCSVD<Eigen::MatrixXf> svd(small, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return balanced(range * svd.matrixU(), svd.singularValues(), svd.matrixV(), rank);
}

/// A P = Q R with column pivoting (Businger and Golub 1965), the first `rank` columns of Q and rows of R P^T.
Factors pivoted_qr(const Matrix& a, Eigen::Index rank) {
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXf> qr(a);
  const Eigen::MatrixXf upper = qr.matrixR().topRows(rank).template triangularView<Eigen::Upper>();
  const Eigen::MatrixXf rows = upper * qr.colsPermutation().transpose();
  const Eigen::MatrixXf q = qr.householderQ() * Eigen::MatrixXf::Identity(a.rows(), rank);
  const Eigen::VectorXf pivots = upper.diagonal().cwiseAbs();
  const Eigen::VectorXf root = (pivots.array() > 0).select(pivots.cwiseSqrt(), 1.0F);
  return {.left = q * root.asDiagonal(), .right = rows.transpose() * root.cwiseInverse().asDiagonal()};
}

enum class Method { exact_svd, randomised_svd, qr };

/// Operations, m >= n the sides, r the rank. Thin SVD: 6 m n^2 + 20 n^3; QR with pivoting: 4 m n r - 2 r^2 (m + n) +
/// 4 r^3 / 3, and as many for its factor Q (Golub and Van Loan, Matrix Computations, 4th ed., figure 8.6.1, section
/// 5.4.2). Randomised: 2 m n l a product with l columns, six of them, and 4 (m + n) l^2 for each orthonormal basis.
double factor_operations(Method method, Shape shape, double rank) {
  const auto m = static_cast<double>(std::max(shape.tokens, shape.hidden));
  const auto n = static_cast<double>(std::min(shape.tokens, shape.hidden));
  if (method == Method::exact_svd) return 6 * m * n * n + 20 * n * n * n;
  if (method == Method::qr) return 2 * (4 * m * n * rank - 2 * rank * rank * (m + n) + 4 * rank * rank * rank / 3);
  const double l = std::min(n, rank + more_columns);
  return 6 * 2 * m * n * l + 3 * 4 * (m + n) * l * l + 6 * m * l * l + 20 * l * l * l;
}

/// A matrix of rank r as two factors of r (S + D) numbers.
class LowRank final : public Codec {
 public:
  LowRank(wire::CodecId id, SvdCodec config, Method method) : Codec(id), config_(config), method_(method) {}

 private:
  static std::int64_t numbers(Shape shape, std::int64_t rank) { return rank * (shape.tokens + shape.hidden); }

  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const auto size = [&](std::int64_t rank) { return packed_size(config_.factors, numbers(shape, rank)); };
    const std::int64_t rank = most_that_fit(payload_room(config_.reference, config_.ratio, shape),
                                            std::min(shape.tokens, shape.hidden), size);
    if (rank == 0) return too_few_bytes(config_.reference, config_.ratio, shape, size(1), "one rank");
    const double conversions = operations_per_real(config_.factors) * static_cast<double>(numbers(shape, rank));
    const auto r = static_cast<double>(rank);
    return Layout{.format = config_.factors,
                  .parameters = {static_cast<std::uint32_t>(rank), 0},
                  .payload = Bytes(size(rank)),
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = {.operations = Operations(factor_operations(method_, shape, r) + conversions),
                             .moved = Bytes(12 * elements(shape) + size(rank))},
                  .decode = {.operations = Operations(2 * r * static_cast<double>(elements(shape)) + conversions),
                             .moved = Bytes(4 * elements(shape) + 4 * numbers(shape, rank) + size(rank))}};
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                       std::span<std::byte> payload) override {
    require_finite(values);
    // Of size 1, so that squares neither vanish nor overflow; a power of two is exact.
    int exponent = 0;
    std::frexp(largest_magnitude(values), &exponent);
    const int half = std::clamp(exponent, -120, 120) / 2;
    const Matrix a = Eigen::Map<const Matrix>(values.data(), shape.tokens, shape.hidden) * std::ldexp(1.0F, -2 * half);
    const auto rank = static_cast<Eigen::Index>(layout.parameters[0]);
    const Factors factors = method_ == Method::qr          ? pivoted_qr(a, rank)
                            : method_ == Method::exact_svd ? exact_svd(a, rank)
                                                           : randomised_svd(a, rank);
    std::vector<float> sent(static_cast<std::size_t>(numbers(shape, layout.parameters[0])));
    // By columns: numbers of one column are alike and share scales.
    Eigen::Map<Eigen::MatrixXf>(sent.data(), shape.tokens, rank) = factors.left;
    Eigen::Map<Eigen::MatrixXf>(sent.data() + shape.tokens * rank, shape.hidden, rank) = factors.right;
    require_finite(sent);
    const float scale = format_scale(layout.format, sent);
    for (float& number : sent) number /= scale;
    pack(layout.format, sent, payload);
    return std::ldexp(scale, half);  // of both factors
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    const std::int64_t rank = header.parameters[0];
    if (rank < 1 || rank > std::min(header.shape.tokens, header.shape.hidden) || header.parameters[1] != 0)
      throw MalformedMessage("the message has no rank that its shape has");
    if (std::ssize(payload) != packed_size(header.format, numbers(header.shape, rank)))
      throw MalformedMessage("the payload of the message does not have the length of its rank");
    require_proportion(header.shape, payload.size());
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const auto rank = static_cast<Eigen::Index>(header.parameters[0]);
    const Shape shape = header.shape;
    std::vector<float> sent(static_cast<std::size_t>(numbers(shape, rank)));
    unpack(header.format, payload, sent);
    for (float& number : sent) number *= header.scale;
    const Eigen::Map<const Eigen::MatrixXf> left(sent.data(), shape.tokens, rank);
    const Eigen::Map<const Eigen::MatrixXf> right(sent.data() + shape.tokens * rank, shape.hidden, rank);
    Eigen::Map<Matrix>(values.data(), shape.tokens, shape.hidden) = left * right.transpose();
  }

  SvdCodec config_;
  Method method_;
};

}  // namespace

std::optional<std::string> problem(const SvdCodec& config) {
  return budget_problem("svd", config.ratio, config.reference);
}
std::optional<std::string> problem(const QrCodec& config) {
  return budget_problem("qr", config.ratio, config.reference);
}

std::unique_ptr<Codec> make(const SvdCodec& config) {
  const bool exact = config.algorithm == SvdAlgorithm::exact;
  return std::make_unique<LowRank>(wire::CodecId::svd, config, exact ? Method::exact_svd : Method::randomised_svd);
}
std::unique_ptr<Codec> make(const QrCodec& config) {
  const SvdCodec same{.ratio = config.ratio, .factors = config.factors, .reference = config.reference};
  return std::make_unique<LowRank>(wire::CodecId::qr, same, Method::qr);
}

}  // namespace trilemma::codec_kinds
